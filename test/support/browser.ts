import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'
import { FACT_MS } from './eventually.ts'

/** What is looked for, in this order: the same engine without the windows that nobody sees takes half the processor time. */
const EXECUTABLES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface TestBrowser extends AsyncDisposable {
  context: BrowserContext
}

/** How long a browser without a profile stays for the next test of its file. */
const IDLE_MS = 300

let running: { browser: Promise<Browser>; profiles: number; idle: NodeJS.Timeout | undefined } | undefined

/**
 * An empty profile of its own, in a browser that the tests of a file share: to start one takes a second of processor time.
 * Debian's Chromium, installed here when it is missing and may be.
 * @param options size, colour scheme, motion, whether scripts run
 * @throws Error that says what to install where this process may not
 */
export async function openBrowser(options: BrowserContextOptions = {}): Promise<TestBrowser> {
  running ??= { browser: launch(), profiles: 0, idle: undefined }
  const mine = running
  clearTimeout(mine.idle)
  mine.profiles += 1
  const leave = () => {
    mine.profiles -= 1
    if (mine.profiles === 0) mine.idle = setTimeout(() => void end(mine), IDLE_MS)
  }
  try {
    const context = await (await mine.browser).newContext(options)
    context.setDefaultTimeout(FACT_MS)
    return {
      context,
      async [Symbol.asyncDispose]() {
        await context.close()
        leave()
      },
    }
  } catch (error) {
    leave()
    throw error
  }
}

async function launch(): Promise<Browser> {
  return await chromium.launch({ executablePath: await ensureChromium(), args: FLAGS, headless: true })
}

async function end(ended: NonNullable<typeof running>): Promise<void> {
  if (running === ended) running = undefined
  await (await ended.browser).close()
}

/**
 * Makes sure that a browser is there. Several test files may ask at once: apt waits for its own lock.
 * @returns where it is
 */
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
