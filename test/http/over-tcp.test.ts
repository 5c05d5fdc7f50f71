import { startService } from '../../harness/start-service.ts'
import { holdToRecords } from './surface.ts'
import { overTcp } from './transport.ts'

holdToRecords({
  async open(env, until) {
    const service = until.adopt(await startService({ env }), (it) => it.kill())
    return { transport: overTcp(service.url), url: service.url }
  },
  sendsBytes: true,
})
