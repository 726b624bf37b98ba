import { parseSync } from 'oxc-parser'
import words from './language.json' with { type: 'json' }

/** A banned word with its place and the words to use instead. */
export interface Finding {
  file: string
  line: number
  word: string
  instead: string
}

/** Words with a standard term, with the words to use instead. The name of an XML tag (`<Say>`) belongs to its format. */
const WORDS = Object.entries(words.text)
const TEXT = new RegExp(`(?<![\\w-]|</?)(${WORDS.map(([pattern]) => pattern).join('|')})(?![\\w-])`, 'gi')

/** Words of identifiers, without those that only sentences have. */
const PART = new RegExp(`^(${words.identifiers.join('|')})$`, 'i')
const CONSTANT = /^(MOST|LEAST|FEWEST|ENOUGH|LONGEST)_/

/** A comment begins with a verb or a noun, not with a clause. */
const BEGINNING = /^(what|whether|who|whose|how|where)\b/i

/** Returns the findings in identifiers, comments, strings and page texts of a TypeScript file. */
export function findInSource(file: string, source: string): Finding[] {
  const { program, comments } = parseSync(file, source)
  const findings: Finding[] = []
  const lineOf = (offset: number) => source.slice(0, offset).split('\n').length
  const addText = (text: string, offset: number) => {
    for (const { index, word, instead } of wordsOf(text))
      findings.push({ file, line: lineOf(offset + index), word, instead })
  }
  let previousEnd = -1
  for (const { value, start, end, type } of comments) {
    addText(value, start + 2)
    // The second line of a comment in `//` continues a sentence.
    const isContinued = type === 'Line' && /^\s*$/.test(source.slice(previousEnd, start)) && previousEnd > 0
    previousEnd = end
    const [word] = BEGINNING.exec(value.replace(/^[\s*/]+/, '')) ?? []
    if (word && !isContinued) findings.push({ file, line: lineOf(start), word, instead: 'begin with a verb' })
  }
  walk(program, (node) => {
    if (node.type === 'Literal' && typeof node.value === 'string') addText(node.value, node.start + 1)
    else if (node.type === 'JSXText') addText(String(node.value), node.start)
    else if (node.type === 'TemplateElement') addText(source.slice(node.start, node.end), node.start)
    else if (node.type === 'Identifier' || node.type === 'JSXIdentifier') {
      const name = String(node.name)
      const word = CONSTANT.exec(name)?.[0] ?? wordsOfName(name).find((part) => PART.test(part))
      if (word) findings.push({ file, line: lineOf(node.start), word: name, instead: insteadOf(word) })
    }
  })
  return findings
}

/** Returns the findings in the sentences of a Markdown document; code is not read. */
export function findInDocument(file: string, markdown: string): Finding[] {
  let isCode = false
  return markdown.split('\n').flatMap((text, index) => {
    const isFence = /^\s*```/.test(text)
    if (isFence) isCode = !isCode
    if (isCode || isFence) return []
    return wordsOf(text.replaceAll(/`[^`]*`/g, '')).map(({ word, instead }) => ({
      file,
      line: index + 1,
      word,
      instead,
    }))
  })
}

/** Returns the findings in a configuration, script or style sheet, of which every line is read. */
export function findInLines(file: string, text: string): Finding[] {
  return text
    .split('\n')
    .flatMap((line, index) => wordsOf(line).map(({ word, instead }) => ({ file, line: index + 1, word, instead })))
}

function wordsOf(text: string) {
  return [...text.matchAll(TEXT)].map(({ 0: word, index }) => ({ word, index, instead: insteadOf(word) }))
}

function insteadOf(word: string): string {
  if (CONSTANT.test(word)) return 'MAX_, MIN_'
  const [, instead = ''] = WORDS.find(([pattern]) => new RegExp(`^(${pattern})$`, 'i').test(word)) ?? []
  return instead
}

function wordsOfName(name: string): string[] {
  return name.split(/_|(?<=[a-z0-9])(?=[A-Z])/)
}

interface Node {
  type: string
  start: number
  end: number
  [member: string]: unknown
}

function walk(node: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(node)) for (const each of node) walk(each, visit)
  else if (isNode(node)) {
    visit(node)
    for (const member of Object.values(node)) if (typeof member === 'object' && member !== null) walk(member, visit)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}
