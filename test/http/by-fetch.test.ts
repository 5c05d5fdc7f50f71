import { bootService } from '../../harness/boot-service.ts'
import { holdToRecords } from './surface.ts'
import { byFetch } from './transport.ts'

holdToRecords({
  async open(env, until) {
    const service = until.use(await bootService({ env }))
    return { transport: byFetch(service.application), url: service.url }
  },
  sendsBytes: false,
})
