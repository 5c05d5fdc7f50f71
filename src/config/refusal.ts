/** Why a value is refused. The words never contain the value itself. */
export interface SettingRefusal {
  /** What is wrong; completes a sentence that begins with the setting's name. */
  readonly problem: string
  readonly expected: string
  /** What to do about it. */
  readonly hint: string
}

export type ParsedSetting<T> = { readonly value: T } | SettingRefusal

/** Parses the text of a setting. `example` is a valid value for use in the hint. */
export type Parser<T> = (text: string, example: string) => ParsedSetting<T>
