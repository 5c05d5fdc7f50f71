import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionSlot } from './connection-slots.ts'

type Answer = (outgoing: ServerResponse) => void

/** The requests of all connections that wait for the answer to the one in front of them. */
export class WaitingRequests {
  readonly #max: number
  #count = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Whether there was room for one more. */
  add(): boolean {
    if (this.#count >= this.#max) return false
    this.#count++
    return true
  }

  remove(count: number): void {
    this.#count -= count
  }
}

/**
 * Answers the requests of one connection one after the other: the next one when the answer before it
 * has been handed to the operating system. What a client sends ahead waits, and no more is read then;
 * so neither its requests nor answers that it does not read pile up.
 */
export class HttpConnection {
  readonly #socket: Socket
  readonly #waitingOfAll: WaitingRequests
  readonly #slot: ConnectionSlot
  readonly #waiting: { readonly outgoing: ServerResponse; readonly answer: Answer }[] = []
  #current: ServerResponse | undefined
  #end: (() => void) | undefined
  #unread: ServerResponse | Socket | undefined
  #unreadMs = 0

  constructor(slot: ConnectionSlot, waitingOfAll: WaitingRequests) {
    const { socket } = slot
    this.#socket = socket
    this.#slot = slot
    this.#waitingOfAll = waitingOfAll
    stopParsingWhenDestroyed(socket)
    socket.once('close', () => this.#waitingOfAll.remove(this.#waiting.splice(0).length))
  }

  /** Calls `answer` when it is the turn of this request. */
  take(outgoing: ServerResponse, answer: Answer): void {
    if (!this.#current && this.#waiting.length === 0) return this.#begin(outgoing, answer)
    if (!this.#waitingOfAll.add()) return void this.#socket.destroy()
    this.#waiting.push({ outgoing, answer })
    this.#socket.pause()
  }

  /** Calls `end`, which sends and closes, when what came before is answered. Nothing is taken any more. */
  endWith(end: () => void): void {
    const last = this.#waiting.at(-1)?.outgoing ?? this.#current
    if (last && !last.req.complete) {
      // It is this one that has no end.
      if (last !== this.#current) this.#waitingOfAll.remove(this.#waiting.splice(-1).length)
      else if (last.headersSent) return void this.#socket.destroy()
      else return end()
    }
    if (this.#current || this.#waiting.length > 0) this.#end = end
    else end()
  }

  /** To be called again and again: cuts off who has not read an answer for so long. */
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

  #begin(outgoing: ServerResponse, answer: Answer): void {
    this.#current = outgoing
    this.#slot.busy()
    outgoing.on('finish', this.#next)
    answer(outgoing)
  }

  readonly #next = (): void => {
    this.#current = undefined
    // The other connections have their turn in between.
    if (this.#waiting.length > 0) setImmediate(this.#beginNext)
    else if (this.#end) this.#end()
    else this.#slot.idle()
  }

  readonly #beginNext = (): void => {
    const turn = this.#waiting.shift()
    if (!turn) return
    this.#waitingOfAll.remove(1)
    if (this.#waiting.length === 0) this.#socket.resume()
    this.#begin(turn.outgoing, turn.answer)
  }
}

/** Of the parser that Node keeps at each socket; no documented interface. */
interface Parser {
  onIncoming: (request: unknown, isKeptAlive: unknown) => number
}

/** As the parser understands it: this connection is HTTP no longer. */
const stopParsing = 2

/**
 * Node reads 64 KiB at a time, and makes a request of each 26 bytes of it even when the first of them
 * had its connection cut off; to tear down thousands of them takes longer than answering them. Were this
 * to do nothing in another version of Node, that is what would happen again.
 */
function stopParsingWhenDestroyed(socket: Socket): void {
  const { parser } = socket as { parser?: Parser }
  const onIncoming = parser?.onIncoming
  if (!onIncoming) return
  parser.onIncoming = (request, isKeptAlive) => {
    const result = onIncoming(request, isKeptAlive)
    return socket.destroyed ? stopParsing : result
  }
}
