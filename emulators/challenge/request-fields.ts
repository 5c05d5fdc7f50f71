import type { ProviderRules } from './providers.ts'

/** The parameters of a siteverify call; undefined when its format is not one that is taken. */
export async function requestFields(
  { takesJson }: ProviderRules,
  contentType: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<Readonly<Record<string, string>> | undefined> {
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase()
  switch (mediaType) {
    case 'application/x-www-form-urlencoded':
    case 'multipart/form-data':
      return formFields(contentType, body)
    case 'application/json':
      return takesJson ? jsonFields(body) : {}
    default:
      return undefined
  }
}

async function formFields(contentType: string, body: Uint8Array<ArrayBuffer>) {
  try {
    const form = await new Response(body, { headers: { 'content-type': contentType } }).formData()
    const texts = [...form].filter((entry): entry is [string, string] => {
      return typeof entry[1] === 'string'
    })
    return Object.fromEntries(texts)
  } catch {
    return undefined
  }
}

function jsonFields(body: Uint8Array): Record<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    if (typeof value !== 'object' || value === null) return undefined
    return Object.fromEntries(
      Object.entries(value).filter((entry): entry is [string, string] => {
        return typeof entry[1] === 'string'
      }),
    )
  } catch {
    return undefined
  }
}
