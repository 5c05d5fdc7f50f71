import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionSlot } from './connection-slots.ts'

type SendAnswer = (outgoing: ServerResponse) => void

/** How many more requests, over all connections, may wait for the answer to an earlier request. */
export interface WaitingRoom {
  left: number
}

/**
 * Answers the requests of one connection one after the other. The next request starts when the
 * answer before it has been handed to the operating system. While requests wait, no more is read
 * from the connection, so neither requests nor unread answers pile up.
 */
export class HttpConnection {
  readonly #socket: Socket
  readonly #room: WaitingRoom
  readonly #slot: ConnectionSlot
  readonly #waiting: { readonly outgoing: ServerResponse; readonly answer: SendAnswer }[] = []
  #current: ServerResponse | undefined
  #end: (() => void) | undefined
  #unread: ServerResponse | Socket | undefined
  #unreadMs = 0

  constructor(slot: ConnectionSlot, room: WaitingRoom) {
    const { socket } = slot
    this.#socket = socket
    this.#slot = slot
    this.#room = room
    stopParsingWhenDestroyed(socket)
    socket.once('close', () => (this.#room.left += this.#waiting.splice(0).length))
  }

  /** Calls `answer` when all earlier requests are answered. */
  take(outgoing: ServerResponse, answer: SendAnswer): void {
    if (!this.#current && this.#waiting.length === 0) return this.#begin(outgoing, answer)
    if (this.#room.left === 0) return void this.#socket.destroy()
    this.#room.left--
    this.#waiting.push({ outgoing, answer })
    this.#socket.pause()
  }

  /** Calls `end`, which sends an answer and closes, when all earlier requests are answered. */
  endWith(end: () => void): void {
    const last = this.#waiting.at(-1)?.outgoing ?? this.#current
    if (last && !last.req.complete) {
      // The last request is incomplete: the failure is in its own body.
      if (last !== this.#current) this.#room.left += this.#waiting.splice(-1).length
      else if (last.headersSent) return void this.#socket.destroy()
      else return end()
    }
    if (this.#current || this.#waiting.length > 0) this.#end = end
    else end()
  }

  /** Call regularly. Closes the connection when its client has not read an answer for `timeoutMs`. */
  checkUnread(sinceLastMs: number, timeoutMs: number): void {
    const sent = this.#current ?? this.#socket
    if (sent !== this.#unread || !sent.writableEnded) {
      this.#unread = sent
      this.#unreadMs = 0
      return
    }
    this.#unreadMs += sinceLastMs
    if (this.#unreadMs >= timeoutMs) this.#socket.destroy()
  }

  #begin(outgoing: ServerResponse, answer: SendAnswer): void {
    this.#current = outgoing
    this.#slot.busy()
    outgoing.on('finish', this.#next)
    answer(outgoing)
  }

  readonly #next = (): void => {
    this.#current = undefined
    // Let other connections run in between.
    if (this.#waiting.length > 0) setImmediate(this.#beginNext)
    else if (this.#end) this.#end()
    else this.#slot.idle()
  }

  readonly #beginNext = (): void => {
    const turn = this.#waiting.shift()
    if (!turn) return
    this.#room.left++
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
