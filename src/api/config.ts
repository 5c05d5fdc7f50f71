import { type Answer, json } from '../http/answer.ts'
import type { Openness } from '../signup/closing.ts'
import type { Field } from '../signup/field.ts'
import { limits } from '../signup/limits.ts'
import type { ParseContext } from '../signup/parse.ts'
import type { Millis } from '../signup/signup.ts'
import type { ConfigAnswer } from '../signup/wire.ts'

export interface PublicSettings {
  readonly widget: {
    readonly siteKey: string | null
    readonly provider: ConfigAnswer['challengeProvider']
    readonly scriptUrl: string
    readonly challengeUrl?: string
  }
  readonly tabs: Required<Pick<ParseContext, 'defaultTab' | 'knownTabs' | 'onlyKnownTabs'>>
  readonly fields: readonly Field[]
  /** Whether people confirm their signups by the link of a mail. */
  readonly confirms: boolean
  /** When it closes; undefined when never. */
  readonly closesAt: Millis | undefined
  readonly openness: () => Openness
  readonly bodyBytesMax: number
  readonly bulkItemsMax: number
}

/**
 * `GET /api/config`: the settings that a form needs.
 *
 * @param notice what a form shows when it is not open
 */
export function publicConfig(settings: PublicSettings, notice?: string): Answer {
  const { widget, tabs, fields, confirms, closesAt, bodyBytesMax, bulkItemsMax } = settings
  const openness = settings.openness()
  const body: ConfigAnswer = {
    challengeEnabled: widget.siteKey !== null,
    challengeSiteKey: widget.siteKey,
    challengeProvider: widget.provider,
    challengeScriptUrl: widget.scriptUrl,
    ...(widget.challengeUrl !== undefined && { challengeUrl: widget.challengeUrl }),
    ...(confirms && { confirmation: true }),
    open: openness !== 'closed',
    closesAt: closesAt === undefined ? null : new Date(closesAt).toISOString(),
    overflow: openness === 'overflow',
    ...(notice !== undefined && { notice }),
    defaultSheetTab: tabs.defaultTab,
    sheetTabs: tabs.onlyKnownTabs ? [...tabs.knownTabs.values()] : null,
    ...(fields.length > 0 && { fields }),
    limits: { ...limits, bodyBytesMax, bulkItemsMax },
  }
  return json('ok', body)
}
