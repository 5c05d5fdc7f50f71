import { isRecord, parseJson } from '../../signup/json.ts'
import { type Kind, text, Wrong } from '../kind.ts'
import { givenAt, pathText } from '../path.ts'
import { type Files, readFileAt } from '../read-file.ts'
import type { SettingsReader } from '../reader.ts'
import { type DeclaredSite, fileKind } from './site-schema.ts'

/** As the environment could not hold more either. */
const charactersMax = 1_048_576

/** `ROLLCALL_CONFIG`: the JSON in the file that it names, or its own. */
export function sitesJson(files: Files): Kind<object> {
  const form = 'the path of a JSON file as docs/sites.md describes it, or the JSON itself'
  return text(form, (it) => {
    if (it.startsWith('{')) return jsonObject(it)
    return readFileAt(files, it, (content) => jsonObject(content.replace(/^\uFEFF/, '')))
  })
}

function jsonObject(text: string): object | Wrong {
  if (text.length > charactersMax) return new Wrong('is longer than 1 MiB.', 'Make it shorter.')
  if (/[\0\uFFFD]/.test(text)) {
    const hint = 'Save it as UTF-8. Windows PowerShell writes UTF-16 by default.'
    return new Wrong('is not text in UTF-8.', hint)
  }
  const parsed = parseJson(text)
  if ('problem' in parsed) return new Wrong(`${parsed.problem}.`, correctIt)
  if (isRecord(parsed.value)) return parsed.value
  return new Wrong('is not a JSON object.', 'Write { "sites": { … } }.')
}

const correctIt =
  'Correct it; an editor shows where. JSON has double quotes, no comments, and no comma behind a last entry.'

/** What a site says itself: as it stands in the file, and what is good of it. */
export interface Declared {
  readonly name: string
  readonly given: unknown
  readonly values: DeclaredSite
}

/** The sites of the file. What is wrong with one is told beside what is wrong with all of them together. */
export function declaredIn(file: object, reader: SettingsReader): readonly Declared[] {
  const { sites = {} } =
    fileKind.parse(file, (refusal, ...path) =>
      reader.tell(pathText(path), givenAt(file, path), refusal),
    ) ?? {}
  const given = 'sites' in file ? file.sites : undefined
  return Object.entries(sites).map(([name, values]) => ({
    ...{ name, values },
    given: isRecord(given) ? given[name] : undefined,
  }))
}
