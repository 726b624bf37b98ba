import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { compileCache, readTypescript } from '../support/typescript-process.ts'

/** Runs a program of `examples/` in a separate process, without settings. */
export class Program implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #exit: Promise<number | null>
  readonly #lines: AsyncIterator<string>
  readonly #errors: Buffer[] = []

  /** @param loader the option that makes Node read TypeScript; users pass `--import=tsx`, which takes twice as long */
  constructor(path: string, args: readonly string[], loader = readTypescript) {
    const program = new URL(`../../examples/${path}`, import.meta.url).pathname
    this.#child = spawn(process.execPath, [loader, program, ...args], { env: compileCache() })
    this.#child.stderr.on('data', (chunk: Buffer) => this.#errors.push(chunk))
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]()
    this.#exit = once(this.#child, 'close').then(([code]: unknown[]) => (typeof code === 'number' ? code : null))
  }

  /** The next line of standard output that matches; throws when the program ends before. */
  async line(pattern: RegExp): Promise<string> {
    for (;;) {
      const { value, done } = await this.#lines.next()
      if (done) throw new Error(`ended without ${pattern}: ${this.errors}`)
      if (pattern.test(value)) return value
    }
  }

  get errors(): string {
    return Buffer.concat(this.#errors).toString()
  }

  /** The exit status; null after a signal. */
  async ended(): Promise<number | null> {
    return await this.#exit
  }

  async kill(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal)
    return await this.#exit
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill('SIGKILL')
  }
}
