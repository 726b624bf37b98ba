import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type LaunchOptions,
  type Page,
} from 'playwright-core'
import { FACT_MS } from './eventually.ts'

/** In order of preference. The headless shell needs half the processor time of the complete browser. */
const EXECUTABLES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome']

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Helper threads for compilation and garbage collection need a fifth more processor time on a busy machine.
  '--js-flags=--single-threaded',
]

export interface TestBrowser extends AsyncDisposable {
  context: BrowserContext
}

/** Contains the address of the browser of this run, if one exists. */
const SERVER = 'TEST_BROWSER_SERVER'

/** Keeps an unused browser open this many ms, because the next test of the process probably needs it. */
const IDLE_MS = 300

/** A wait of `FACT_MS` and these calls together remain below the timeout of AVA. */
const CALL_MS = 60_000

let running: { browser: Promise<Browser>; contexts: number; idle: NodeJS.Timeout | undefined } | undefined

/**
 * Opens an empty browser context in the browser of the run, or in one that the tests of this process share.
 * @param options size, colour scheme, motion, JavaScript
 * @throws Error with the package to install, if Chromium is missing and cannot be installed here
 */
export async function openBrowser(options: BrowserContextOptions = {}): Promise<TestBrowser> {
  running ??= { browser: connect(), contexts: 0, idle: undefined }
  const mine = running
  clearTimeout(mine.idle)
  mine.contexts += 1
  const release = () => {
    mine.contexts -= 1
    if (mine.contexts === 0) mine.idle = setTimeout(() => void end(mine), IDLE_MS)
  }
  try {
    const context = await inTime('open a context', (await mine.browser).newContext(options))
    context.setDefaultTimeout(FACT_MS)
    return {
      context,
      async [Symbol.asyncDispose]() {
        await inTime('close a context', context.close()).finally(release)
      },
    }
  } catch (error) {
    release()
    throw error
  }
}

/** Performs an action while the page has not received a script yet, as a quick user or a restored form does. */
export async function beforeScript(page: Page, address: RegExp, act: () => Promise<unknown>): Promise<void> {
  const acted = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    await acted.promise
    await route.continue()
  })
  await act()
  acted.resolve()
  await page.waitForLoadState()
  await page.unroute(address)
}

/**
 * Playwright has no timeout for these calls. Without one, a browser that does not respond would end the whole group of
 * tests, and hide which step failed.
 */
async function inTime<T>(what: string, call: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`the browser did not ${what} in ${CALL_MS} ms`)), CALL_MS)
  return await Promise.race([call, late.promise]).finally(() => clearTimeout(timer))
}

/** Starts one Chromium for all test processes of a run. They find it through the environment. */
export async function startBrowserServer(): Promise<AsyncDisposable & { environment: Record<string, string> }> {
  const server = await chromium.launchServer({ ...(await launchOptions()), host: '127.0.0.1' })
  return { environment: { [SERVER]: server.wsEndpoint() }, [Symbol.asyncDispose]: () => server.close() }
}

async function connect(): Promise<Browser> {
  const server = process.env[SERVER]
  return server ? await chromium.connect(server) : await chromium.launch(await launchOptions())
}

async function launchOptions(): Promise<LaunchOptions> {
  return { executablePath: await ensureChromium(), args: FLAGS, headless: true }
}

async function end(ended: NonNullable<typeof running>): Promise<void> {
  if (running === ended) running = undefined
  await (await ended.browser).close()
}

/** Installs Chromium if it is missing, and returns its path. Processes may call this at once: apt waits for its lock. */
async function ensureChromium(): Promise<string> {
  const [preferred = ''] = EXECUTABLES
  const present = EXECUTABLES.find((path) => existsSync(path))
  if (present) return present
  const isDebian = /^ID(_LIKE)?=.*debian/m.test(await readFile('/etc/os-release', 'utf8').catch(() => ''))
  if (!isDebian || process.getuid?.() !== 0) {
    throw new Error(
      `browser tests need ${EXECUTABLES.join(' or ')}: on Debian, apt-get install chromium-headless-shell`,
    )
  }
  const run = promisify(execFile)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=180', 'update'], { env })
  await run(
    'apt-get',
    [
      '-q',
      '-y',
      '-o',
      'DPkg::Lock::Timeout=180',
      'install',
      '--no-install-recommends',
      'chromium-headless-shell',
      'fonts-dejavu-core',
    ],
    { env, maxBuffer: 64 * 1024 * 1024 },
  )
  return preferred
}
