import { type Answer, json } from '../http/answer.ts'
import { limits } from '../signup/limits.ts'
import type { ConfigAnswer } from '../signup/wire.ts'

export interface PublicSettings {
  readonly widget: {
    readonly siteKey: string | null
    readonly provider: ConfigAnswer['challengeProvider']
    readonly scriptUrl: string
  }
  readonly tabs: {
    readonly defaultTab: string
    readonly knownTabs: ReadonlyMap<string, string>
    readonly onlyKnownTabs: boolean
  }
  readonly bodyBytesMax: number
  readonly bulkItemsMax: number
}

/** `GET /api/config`: the settings that a form needs. */
export function publicConfig({ widget, tabs, bodyBytesMax, bulkItemsMax }: PublicSettings): Answer {
  const body: ConfigAnswer = {
    challengeEnabled: widget.siteKey !== null,
    challengeSiteKey: widget.siteKey,
    challengeProvider: widget.provider,
    challengeScriptUrl: widget.scriptUrl,
    defaultSheetTab: tabs.defaultTab,
    sheetTabs: tabs.onlyKnownTabs ? [...tabs.knownTabs.values()] : null,
    limits: { ...limits, bodyBytesMax, bulkItemsMax },
  }
  return json('ok', body)
}
