import { type Answer, json } from '../http/answer.ts'
import type { Field } from '../signup/field.ts'
import { limits } from '../signup/limits.ts'
import type { ParseContext } from '../signup/parse.ts'
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
  readonly bodyBytesMax: number
  readonly bulkItemsMax: number
}

/** `GET /api/config`: the settings that a form needs. */
export function publicConfig(settings: PublicSettings): Answer {
  const { widget, tabs, fields, confirms, bodyBytesMax, bulkItemsMax } = settings
  const body: ConfigAnswer = {
    challengeEnabled: widget.siteKey !== null,
    challengeSiteKey: widget.siteKey,
    challengeProvider: widget.provider,
    challengeScriptUrl: widget.scriptUrl,
    ...(widget.challengeUrl !== undefined && { challengeUrl: widget.challengeUrl }),
    ...(confirms && { confirmation: true }),
    defaultSheetTab: tabs.defaultTab,
    sheetTabs: tabs.onlyKnownTabs ? [...tabs.knownTabs.values()] : null,
    ...(fields.length > 0 && { fields }),
    limits: { ...limits, bodyBytesMax, bulkItemsMax },
  }
  return json('ok', body)
}
