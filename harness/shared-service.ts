import { join } from 'node:path'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import {
  type HostOptions,
  type HostPage,
  openHost,
  type OpenPage,
  openPage,
  startBrowser,
} from './browser.ts'
import { readTab } from './read-workbook.ts'
import { type RunningService, type StartOptions, startService } from './start-service.ts'

/** A browser and a service that all tests of a file share. They run only while its tests do. */
export interface SharedService {
  readonly browser: Browser
  readonly service: RunningService
  /** Opens a page of another origin, which may use the service. */
  open(options: Omit<HostOptions, 'service'>): Promise<HostPage>
  /** Opens a page of the service, by its path. */
  visit(path: string, options?: BrowserContextOptions): Promise<OpenPage>
  /** The rows of a tab, without its header. */
  rows(tab: string): string[][]
}

/** Starts a browser and a service before the tests of this file, and ends both after them. */
export function shareService(options: StartOptions = {}): SharedService {
  let browser: Browser
  let service: RunningService
  beforeAll(async () => {
    ;[browser, service] = await Promise.all([startBrowser(), startService(options)])
  })
  afterAll(async () => {
    await browser.close()
    await service.stop()
  })
  return {
    get browser() {
      return browser
    },
    get service() {
      return service
    },
    open: (host) => openHost(browser, { ...host, service: service.url }),
    visit: (path, page) => openPage(browser, service.url + path, page),
    rows: (tab) => readTab(join(service.folder, 'data'), `${tab}.csv`).slice(1),
  }
}
