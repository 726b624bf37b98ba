import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Picture } from './read-qr.ts'

const run = promisify(execFile)

/** Reads a PDF with other readers (poppler's, independent of the library that writes). */
export interface ReadPdf {
  /** the text as it would be selected, page by page */
  text: string
  info: string
  /** the tree that assistive technology follows */
  structure: string
  /** attachments by name */
  files: Map<string, Buffer>
}

/** @returns null when poppler's tools are not installed (apt-get install poppler-utils) */
export async function readPdf(bytes: Buffer): Promise<ReadPdf | null> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-pdf-'))
  try {
    const path = join(folder, 'it.pdf')
    await writeFile(path, bytes)
    const [text, info, structure] = await Promise.all([
      run('pdftotext', ['-layout', path, '-']),
      run('pdfinfo', [path]),
      run('pdfinfo', ['-struct-text', path]),
    ])
    const list = await run('pdfdetach', ['-list', path])
    const names = [...list.stdout.matchAll(/^[0-9]+: (.+)$/gm)].map((match) => match[1] ?? '')
    const files = new Map<string, Buffer>()
    for (const [index, name] of names.entries()) {
      const target = join(folder, `file-${index}`)
      await run('pdfdetach', ['-save', String(index + 1), '-o', target, path])
      files.set(name, await readFile(target))
    }
    return { text: text.stdout, info: info.stdout, structure: structure.stdout, files }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** A word of a page with its position in points from the upper left corner. */
export interface PlacedWord {
  page: number
  text: string
  left: number
  right: number
  top: number
}

/** @returns in the order of reading; null when poppler's tools are not installed */
export async function wordsOfPdf(bytes: Buffer): Promise<PlacedWord[] | null> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-pdf-'))
  try {
    const path = join(folder, 'it.pdf')
    await writeFile(path, bytes)
    const { stdout } = await run('pdftotext', ['-bbox', path, '-'])
    const pages = stdout.split('<page ').slice(1)
    return pages.flatMap((page, index) =>
      [...page.matchAll(/<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="[\d.]+">(.*?)<\/word>/g)].map(
        ([, left, top, right, text]) => ({
          ...{ page: index, text: text ?? '', left: Number(left), right: Number(right), top: Number(top) },
        }),
      ),
    )
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Renders a page in greyscale. @returns null when poppler's tools are not installed */
export async function pictureOfPage(bytes: Buffer, page: number): Promise<Picture | null> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-pdf-'))
  try {
    const path = join(folder, 'it.pdf')
    await writeFile(path, bytes)
    const only = ['-f', String(page), '-l', String(page), '-singlefile']
    await run('pdftoppm', ['-gray', '-r', '200', ...only, path, join(folder, 'page')])
    const file = await readFile(join(folder, 'page.pgm'))
    const head = /^P5\s+(\d+)\s+\d+\s+255\s/.exec(file.toString('latin1', 0, 64))
    return { width: Number(head?.[1]), pixels: file.subarray(head?.[0].length) }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  } finally {
    await rm(folder, { recursive: true })
  }
}

export const NO_POPPLER = 'not looked at: poppler-utils is not installed (apt-get install poppler-utils)'
