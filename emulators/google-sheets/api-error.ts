/** One entry of `error.details`: a google.rpc message with its `@type`. */
export type ErrorDetail = Readonly<Record<string, unknown>>

/** The body of every error of the Sheets API. */
export interface ErrorBody {
  readonly error: {
    readonly code: number
    readonly message: string
    readonly status: string
    readonly details?: readonly ErrorDetail[]
  }
}

/** An answer that is an error in Google's envelope. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: number
  readonly status: string
  readonly details: readonly ErrorDetail[]

  constructor(code: number, status: string, message: string, details: readonly ErrorDetail[] = []) {
    super(message)
    this.code = code
    this.status = status
    this.details = details
  }

  /** The JSON body of the answer. */
  toBody(): ErrorBody {
    const { code, message, status, details } = this
    return { error: { code, message, status, ...(details.length > 0 ? { details } : {}) } }
  }

  /** The same error with a prefix that says which part of a batch failed. */
  prefixed(prefix: string): ApiError {
    return new ApiError(this.code, this.status, prefix + this.message, this.details)
  }
}

/**
 * An error about the limit of the spreadsheet or of one cell. Reports show these two texts without the
 * prefix `Invalid requests[i]` of other errors of a batch.
 */
export class LimitError extends ApiError {
  constructor(message: string) {
    super(400, 'INVALID_ARGUMENT', message)
  }
}

export interface FieldViolation {
  readonly field?: string
  readonly description: string
}

export function invalidArgument(message: string): ApiError {
  return new ApiError(400, 'INVALID_ARGUMENT', message)
}

/** The error of the JSON front end. Its message has a line for each violation. */
export function badRequest(
  violations: readonly FieldViolation[],
  message = violations.map((violation) => violation.description).join('\n'),
): ApiError {
  return new ApiError(400, 'INVALID_ARGUMENT', message, [
    { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations },
  ])
}

export function notFound(message = 'Requested entity was not found.'): ApiError {
  return new ApiError(404, 'NOT_FOUND', message)
}

export function permissionDenied(): ApiError {
  return new ApiError(403, 'PERMISSION_DENIED', 'The caller does not have permission')
}

export function protectedCell(): ApiError {
  return invalidArgument(
    'You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection if you need to edit.',
  )
}

/** An error of the emulator, which Google does not have. */
export function notEmulated(what: string): ApiError {
  return new ApiError(
    501,
    'UNIMPLEMENTED',
    `The Google Sheets emulator does not implement ${what}.`,
  )
}
