import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

import type { FuzzAnswer } from '../test/fuzz/fuzz-client.ts'
import type { RequestSchema } from '../test/fuzz/from-schema.ts'

interface Reference {
  readonly $ref?: string
}

interface Described extends Reference {
  readonly required?: boolean
  readonly schema?: object
}

interface ResponseObject extends Reference {
  readonly headers?: Readonly<Record<string, Described>>
  readonly content?: Readonly<Record<string, { readonly schema: Reference }>>
}

export interface Parameter extends Reference {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: RequestSchema
}

export interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly security?: readonly unknown[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: RequestSchema }>> }
  readonly responses: Readonly<Record<string, ResponseObject>>
}

interface Document {
  readonly paths: Readonly<
    Record<string, Record<string, Operation> & { readonly parameters?: readonly Parameter[] }>
  >
}

export interface DocumentedOperation extends Operation {
  readonly path: string
  readonly method: string
  readonly parameters: readonly Parameter[]
}

/** The OpenAPI document of a service. It checks whether answers conform to it. */
export class OpenapiDocument {
  readonly #document: Document
  // Do not check formats: the document has a pattern beside each.
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(document: Document) {
    this.#document = document
    this.#ajv.addSchema(document, 'api', false, false)
  }

  static async fetch(url: string): Promise<OpenapiDocument> {
    const answer = await fetch(`${url}/api/openapi.json`)
    return new OpenapiDocument((await answer.json()) as Document)
  }

  get operations(): readonly DocumentedOperation[] {
    return Object.entries(this.#document.paths).flatMap(([path, { parameters = [], ...methods }]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        path,
        method: method.toUpperCase(),
        parameters: [...parameters, ...(operation.parameters ?? [])].map((it) => this.resolve(it)),
      })),
    )
  }

  /** The node that a reference names, or the node itself. */
  resolve = <T extends Reference>(node: T): T => {
    if (node.$ref === undefined) return node
    const names = node.$ref.replace('#/', '').split('/')
    return names.reduce<unknown>(
      (at, name) => (at as Record<string, unknown>)[name],
      this.#document,
    ) as T
  }

  /** Each difference between an answer and its description in the document. */
  faults({ responses }: Operation, answer: FuzzAnswer): string[] {
    const documented = responses[answer.status]
    if (!documented) return [`the status ${answer.status} is not documented: ${answer.body}`]
    const response = this.resolve(documented)
    return [...this.#headerFaults(response, answer), ...this.#bodyFaults(response, answer)]
  }

  /** The same for an answer of no operation: a problem document or a page. */
  problemFaults(answer: FuzzAnswer): string[] {
    const problem = this.resolve<ResponseObject>({ $ref: '#/components/responses/Refused400' })
    return [...this.#headerFaults(problem, answer), ...this.#bodyFaults(problem, answer)]
  }

  #headerFaults({ headers = {} }: ResponseObject, answer: FuzzAnswer): string[] {
    return Object.entries(headers).flatMap(([name, described]) => {
      const { required, schema = {} } = this.resolve(described)
      const value = answer.headers.get(name)
      if (value === null) return required ? [`the header ${name} is missing`] : []
      return this.#valueFaults(schema, value).map((fault) => `the header ${name} ${fault}`)
    })
  }

  #bodyFaults({ content }: ResponseObject, { headers, body }: FuzzAnswer): string[] {
    if (!content) return body === '' ? [] : [`a body comes: ${body}`]
    const type = headers.get('content-type') ?? 'none'
    const media = content[type] ?? content[type.split(';', 1)[0] ?? '']
    if (!media) return [`the content type ${type} is not documented`]
    const value: unknown = type.includes('json') ? JSON.parse(body) : body
    return this.#valueFaults(media.schema, value)
  }

  #valueFaults(schema: Reference, value: unknown): string[] {
    const name = JSON.stringify(schema)
    const absolute = schema.$ref === undefined ? schema : { $ref: `api${schema.$ref}` }
    const validate = this.#validators.get(name) ?? this.#ajv.compile(absolute)
    this.#validators.set(name, validate)
    if (validate(value)) return []
    return [`${this.#ajv.errorsText(validate.errors)}: ${JSON.stringify(value)}`]
  }
}
