import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseBase64Hash, toBase64 } from '#shared/transparency/anchoring/text.ts'
import type { WitnessedTree } from '#shared/transparency/anchoring/witness-protocol.ts'
import { parseJsonBytes } from '../../shared/canonical/parse-json.ts'

/** The last cosigned tree of each origin. Without this file the witness would sign a rolled-back log. */
export class WitnessState {
  readonly #path: string
  readonly #trees: Map<string, WitnessedTree>

  private constructor(path: string, trees: Map<string, WitnessedTree>) {
    this.#path = path
    this.#trees = trees
  }

  /** @throws Error if the file exists */
  static create(path: string): WitnessState {
    if (existsSync(path)) throw new Error(`${path} exists already; start without --init`)
    const state = new WitnessState(path, new Map())
    state.#write(state.#trees)
    return state
  }

  /** A witness never starts over automatically. @throws Error if the file is missing or damaged */
  static load(path: string): WitnessState {
    if (!existsSync(path)) throw new Error(`${path} is absent; restore it, or start once with --init`)
    const value = parseJsonBytes(readFileSync(path))
    const trees = new Map<string, WitnessedTree>()
    if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Error(`${path} is damaged`)
    for (const [origin, tree] of Object.entries(value)) {
      const { size, root }: { size?: unknown; root?: unknown } = Object(tree)
      const hash = typeof root === 'string' ? parseBase64Hash(root) : undefined
      if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0 || hash === undefined)
        throw new Error(`${path} is damaged at ${origin}`)
      trees.set(origin, { size, root: hash })
    }
    return new WitnessState(path, trees)
  }

  latest(origin: string): WitnessedTree | undefined {
    return this.#trees.get(origin)
  }

  /**
   * Stores a tree durably. It blocks on purpose, so that nothing runs between a decision and its record: the witness
   * protocol requires this to be atomic.
   */
  record(origin: string, tree: WitnessedTree): void {
    const trees = new Map(this.#trees).set(origin, tree)
    this.#write(trees)
    this.#trees.set(origin, tree)
  }

  #write(trees: ReadonlyMap<string, WitnessedTree>): void {
    const entries = [...trees].map(([origin, { size, root }]) => [origin, { size, root: toBase64(root) }])
    const temporary = `${this.#path}.new`
    const file = openSync(temporary, 'w', 0o600)
    try {
      writeFileSync(file, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, this.#path)
    // The rename is durable only after the folder is synchronised.
    const folder = openSync(dirname(this.#path), 'r')
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  }
}
