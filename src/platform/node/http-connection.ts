import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Occupant } from './connection-slots.ts'

type SendAnswer = (outgoing: ServerResponse) => void

export interface Shared {
  /** How many more requests may wait for the answer to an earlier request. */
  roomLeft: number
  /** Counts up with each use of a connection. */
  uses: number
}

/**
 * Answers the requests of one connection one after the other. The next request starts when the
 * answer before it has been handed to the operating system. While requests wait, the socket is paused.
 * Node reads on all the same at the end of a message, so `roomLeft` bounds the requests that pile up.
 */
export class HttpConnection implements Occupant {
  readonly #socket: Socket
  readonly #shared: Shared
  readonly #waiting: { readonly outgoing: ServerResponse; readonly answer: SendAnswer }[] = []
  #last: ServerResponse | undefined
  /** The answer whose end is listened for, because something comes after it. */
  #awaited: ServerResponse | undefined
  #end: (() => void) | undefined
  #unread: ServerResponse | Socket | undefined
  #unreadUpto = 0
  #unreadMs = 0
  #lastUse: number

  constructor(socket: Socket, shared: Shared) {
    this.#socket = socket
    this.#shared = shared
    this.#lastUse = shared.uses
    stopParsingWhenDestroyed(socket)
    socket.once('close', () => (this.#shared.roomLeft += this.#waiting.splice(0).length))
  }

  get isIdle(): boolean {
    return !this.#current && this.#waiting.length === 0
  }

  get lastUse(): number {
    return this.#lastUse
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Calls `answer` when all earlier requests are answered. */
  take(outgoing: ServerResponse, answer: SendAnswer): void {
    if (this.isIdle) return this.#begin(outgoing, answer)
    if (this.#shared.roomLeft === 0) return void this.#socket.destroy()
    this.#shared.roomLeft--
    this.#waiting.push({ outgoing, answer })
    this.#socket.pause()
    this.#awaitCurrent()
  }

  /** Calls `end`, which sends an answer and closes, when all earlier requests are answered. */
  endWith(end: () => void): void {
    const current = this.#current
    const last = this.#waiting.at(-1)?.outgoing ?? current
    if (last && !last.req.complete) {
      // The last request is incomplete: the failure is in its own body.
      if (last !== current) this.#shared.roomLeft += this.#waiting.splice(-1).length
      else if (last.headersSent) return void this.#socket.destroy()
      else return end()
    }
    if (this.isIdle) return end()
    this.#end = end
    this.#awaitCurrent()
  }

  /**
   * Call regularly. Closes the connection when its client has not read an answer, or the last piece of one, for
   * `timeoutMs`.
   */
  check(sinceLastMs: number, timeoutMs: number): void {
    // A request that takes long uses the connection until it ends.
    if (!this.isIdle) this.#lastUse = ++this.#shared.uses
    const sent = this.#current ?? this.#socket
    const isUnread = sent.writableEnded || sent.writableNeedDrain
    // What waits to be read counts as well, so it changes only when there is a new piece.
    const upto = isUnread ? this.#socket.bytesWritten : 0
    if (!isUnread || sent !== this.#unread || upto !== this.#unreadUpto) {
      this.#unread = sent
      this.#unreadUpto = upto
      this.#unreadMs = 0
      return
    }
    this.#unreadMs += sinceLastMs
    if (this.#unreadMs >= timeoutMs) this.#socket.destroy()
  }

  /** The answer that is not sent yet. */
  get #current(): ServerResponse | undefined {
    return this.#last?.writableFinished === false ? this.#last : undefined
  }

  #begin(outgoing: ServerResponse, answer: SendAnswer): void {
    this.#last = outgoing
    this.#lastUse = ++this.#shared.uses
    if (this.#waiting.length > 0 || this.#end) this.#awaitCurrent()
    answer(outgoing)
  }

  /** Goes on when the current answer is sent. */
  #awaitCurrent(): void {
    const current = this.#current
    if (!current || current === this.#awaited) return
    this.#awaited = current
    current.once('finish', () => {
      // Let other connections run in between.
      if (this.#waiting.length > 0) setImmediate(this.#beginNext)
      else this.#end?.()
    })
  }

  readonly #beginNext = (): void => {
    const turn = this.#waiting.shift()
    if (!turn) return
    this.#shared.roomLeft++
    if (this.#waiting.length === 0) this.#socket.resume()
    this.#begin(turn.outgoing, turn.answer)
  }
}

/**
 * Stops Node from parsing more requests after the connection is destroyed. Node reads 64 KiB at a
 * time, and a request can be 26 bytes long; tearing down thousands of them takes longer than answering
 * them. If another version of Node has no such parser, only this saving is lost.
 */
function stopParsingWhenDestroyed(socket: Socket): void {
  // Node attaches it to each socket. It is not documented.
  const { parser } = socket as {
    parser?: { onIncoming: (one: unknown, isLast: unknown) => number }
  }
  const onIncoming = parser?.onIncoming
  if (!onIncoming) return
  parser.onIncoming = (request, isKeptAlive) => {
    const result = onIncoming(request, isKeptAlive)
    // 2 says that this connection is no longer HTTP.
    return socket.destroyed ? 2 : result
  }
}
