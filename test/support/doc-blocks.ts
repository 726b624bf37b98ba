import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './imports.ts'

/** A fenced block of a page for people. */
export interface DocBlock {
  /** `docs/webhooks.md:42`, of its opening fence */
  at: string
  page: string
  language: string
  text: string
  /** text of the comment before it if this block is not run, or run elsewhere */
  mark: string | null
}

const MARK = /^<!-- ((?:from here on )?not run: .+|run by .+) -->$/

/** The pages whose code people paste: README.md and everything under docs. */
export function pages(): string[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  return ['README.md', ...docs.filter((name) => name.endsWith('.md')).map((name) => join('docs', name))]
}

/** Returns the blocks of a page in order. A mark counts for the next block, or for all that follow if it states so. */
export function blocksOf(page: string): DocBlock[] {
  const blocks: DocBlock[] = []
  let open: DocBlock | null = null
  let mark: string | null = null
  let lasting: string | null = null
  for (const [index, line] of readFileSync(join(root, page), 'utf8').split('\n').entries()) {
    const fence = /^\s*```(\w*)$/.exec(line)
    const found = MARK.exec(line)?.[1]
    if (open && fence) {
      blocks.push(open)
      open = null
    } else if (open) open.text += `${line}\n`
    else if (fence) {
      open = { at: `${page}:${index + 1}`, page, language: fence[1] ?? '', text: '', mark: mark ?? lasting }
      mark = null
    } else if (found?.startsWith('from here on')) lasting = found
    else if (found) mark = found
    else if (line.trim() !== '') mark = null
  }
  return blocks
}
