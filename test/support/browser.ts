import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'

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

/**
 * A browser with an empty profile of its own. Debian's Chromium, installed here when it is missing and may be.
 * @param options size, colour scheme, motion, whether scripts run
 * @throws Error that says what to install where this process may not
 */
export async function openBrowser(options: BrowserContextOptions = {}): Promise<TestBrowser> {
  const executablePath = await ensureChromium()
  const profile = await mkdtemp(join(tmpdir(), 'signalbox-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: FLAGS,
    headless: true,
    ...options,
  })
  context.setDefaultTimeout(30_000)
  return {
    context,
    async [Symbol.asyncDispose]() {
      await context.close()
      await rm(profile, { recursive: true, force: true })
    },
  }
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
