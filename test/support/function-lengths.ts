import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isFunctionLikeDeclaration, type Node, type SourceFile } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'
import { root } from './imports.ts'

export interface LongFunction {
  file: string
  /** line on which it begins, from 1 */
  line: number
  lines: number
}

/**
 * The functions of some files that have more lines than `most`, including nested declarations.
 * @param files from the root of the repository, all of them of its tsconfig.json
 */
export function functionsAbove(most: number, files: readonly string[]): LongFunction[] {
  const api = new API({ cwd: root })
  try {
    const project = api.updateSnapshot({ openProject: join(root, 'tsconfig.json') }).getProjects()[0]
    return files.flatMap((file) => {
      const source = project?.program.getSourceFile(join(root, file))
      if (!source) throw new Error(`the compiler does not know ${file}`)
      return functionsOf(source)
        .filter(({ lines }) => lines > most)
        .map((found) => ({ file, ...found }))
    })
  } finally {
    api.close()
  }
}

/** Returns the number of lines of a file. */
export function linesOf(file: string): number {
  return readFileSync(join(root, file), 'utf8').trimEnd().split('\n').length
}

function functionsOf(source: SourceFile): { line: number; lines: number }[] {
  const lineAt = (position: number) => source.text.slice(0, position).split('\n').length
  const found: { line: number; lines: number }[] = []
  function visit(node: Node): void {
    if (isFunctionLikeDeclaration(node)) {
      const line = lineAt(node.getStart(source))
      found.push({ line, lines: lineAt(node.end) - line + 1 })
    }
    node.forEachChild(visit)
  }
  visit(source)
  return found
}
