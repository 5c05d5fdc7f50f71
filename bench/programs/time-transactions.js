// Loaded before a command that is measured (`node --import`). At its end it writes into the file HOLDS_FILE
// how long the command kept others from writing to the journal. This is JavaScript, because the memory
// that it takes to strip types would count as the command's.
import { channel } from 'node:diagnostics_channel'
import { writeFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { DatabaseSync } from 'node:sqlite'

/** In milliseconds, one for each transaction: its work, the processor time of that, and then its commit. */
const workMs = []
const cpuMs = []
const commitMs = []
/** In milliseconds, one for each try to empty the write-ahead log. */
const emptyMs = []

const queries = channel('sqlite.db.query')
const { exec, prepare } = DatabaseSync.prototype
let lockedAt
let cpuAt = 0
const cpuNow = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
let freeAt
const noteFree = () => (freeAt = performance.now())

DatabaseSync.prototype.exec = function (sql) {
  if (sql === 'COMMIT' && lockedAt !== undefined) return commit(this)
  exec.call(this, sql)
  lockedAt = undefined
  if (sql !== 'BEGIN IMMEDIATE') return
  cpuAt = cpuNow()
  lockedAt = performance.now()
}

function commit(db) {
  const began = performance.now()
  const cpu = cpuNow() - cpuAt
  // The event comes when others may write again. The rest of the call may be a checkpoint.
  queries.subscribe(noteFree)
  try {
    exec.call(db, 'COMMIT')
    workMs.push(began - lockedAt)
    cpuMs.push(cpu)
    commitMs.push(freeAt - began)
  } finally {
    queries.unsubscribe(noteFree)
    lockedAt = undefined
  }
}

DatabaseSync.prototype.prepare = function (sql, ...rest) {
  const statement = prepare.call(this, sql, ...rest)
  if (sql !== 'PRAGMA wal_checkpoint(TRUNCATE)') return statement
  return {
    get() {
      const began = performance.now()
      const row = statement.get()
      emptyMs.push(performance.now() - began)
      return row
    },
  }
}

process.once('exit', () => {
  writeFileSync(process.env.HOLDS_FILE, JSON.stringify({ workMs, cpuMs, commitMs, emptyMs }))
})
