import type { Kind } from './kind.ts'
import type { Setting } from './setting.ts'
import { type SettingName, settingNames, settings } from './settings.ts'

type Settings = typeof settings

/** What a setting is read as. Undefined when it has no default and is unset. */
export type ValueOf<Name extends SettingName> =
  Settings[Name]['kind'] extends Kind<infer T>
    ? Settings[Name] extends { readonly default: string }
      ? T
      : T | undefined
    : never

/** The settings that stand in `Config` as they are read. */
export type InstanceSettings = {
  readonly [
    Name in SettingName as Settings[Name] extends { readonly instance: infer Key extends string }
      ? Key
      : never
  ]: ValueOf<Name>
}

type Under<Prefix extends string> = {
  readonly [
    Name in SettingName as Settings[Name] extends {
      readonly site: `${Prefix}${infer Key}`
    }
      ? Key extends `${string}.${string}`
        ? never
        : Key
      : never
  ]: ValueOf<Name>
}

/** The settings that a site may have of its own, by the beginning of their paths in it. */
export interface SiteSettings {
  readonly '': Under<''>
  readonly 'closing.': Under<'closing.'>
  readonly 'page.': Under<'page.'>
  readonly 'challenge.': Under<'challenge.'>
  readonly 'spam.': Under<'spam.'>
  readonly 'mail.': Under<'mail.'>
  readonly 'mail.welcome.': Under<'mail.welcome.'>
}

/** For each setting whose path in a site begins so, what `of` makes of its name, by the rest of the path. */
export function bySitePath(
  under: keyof SiteSettings,
  of: (name: SettingName) => unknown,
): Readonly<Record<string, unknown>> {
  const values = settingNames.flatMap((name) => {
    const { site }: Setting = settings[name]
    const key = site?.startsWith(under) ? site.slice(under.length) : ''
    return key === '' || key.includes('.') ? [] : [[key, of(name)] as const]
  })
  return Object.fromEntries(values)
}
