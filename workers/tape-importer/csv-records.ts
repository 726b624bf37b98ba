import { CsvError, type Parser, parse } from 'csv-parse'
import type { FailureCode, HeaderFault } from '#shared/risk/colending/imports/import.ts'
import { NotTextError } from '#shared/risk/colending/imports/utf8-check.ts'
import { withLineFeeds } from './read-file.ts'

const MAX_RECORD_BYTES = 65_536
/** Larger than a record, because the parser buffers input. */
const MAX_UNTERMINATED_BYTES = 8 * 65_536

export interface FileRecord {
  line: number
  cells: string[]
  /** its text in the file without the final line end; line ends inside it are LF */
  text: string
}

/** The file is malformed or exceeds a limit. */
export class FileRefusedError extends Error {
  readonly code: FailureCode
  readonly line: number
  /** for FORMAT_UNKNOWN: the record that is closest to a header */
  readonly header: HeaderFault | undefined
  constructor(code: FailureCode, line: number, header?: HeaderFault) {
    super(`${code} in line ${line}`)
    this.code = code
    this.line = line
    this.header = header
  }
}

/**
 * Yields one array of records per chunk, because yielding each record costs more than parsing it. If the file is
 * refused, the records before the error are yielded first. @throws FileRefusedError
 */
export async function* csvRecords(bytes: AsyncIterable<Buffer>): AsyncGenerator<FileRecord[]> {
  let found: FileRecord[] = []
  let ended = 0
  const parser = parse({
    bom: true,
    record_delimiter: '\n',
    max_record_size: MAX_RECORD_BYTES,
    raw: true,
    on_record(parsed: unknown, { lines }) {
      // With `raw` the parser passes a record and its text; its types declare only the record.
      const { record: cells, raw } = parsed as { record: string[]; raw: string }
      const line = lines - ended === 1 ? lines : lines - newlinesIn(cells)
      // `raw` includes empty lines before the record.
      found.push({ line, cells, text: raw.replace(/^\n+|\n$/g, '') })
      ended = lines
      return null
    },
    relax_column_count: true,
    skip_empty_lines: true,
  })
  // The write or end that fails also reports its error.
  parser.on('error', () => {})
  const takeFound = () => {
    const records = found
    found = []
    return records
  }
  try {
    for await (const piece of withLimit(withLineFeeds(bytes), parser, () => ended + 1)) {
      await written(parser, piece)
      yield takeFound()
    }
    await written(parser, null)
    yield takeFound()
  } catch (error) {
    const refused = refusalOf(error, ended + 1)
    if (found.length > 0) yield takeFound()
    throw refused
  } finally {
    parser.destroy()
  }
}

/** @throws the parser's error */
function written(parser: Parser, piece: Buffer | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null) => (error ? reject(error) : resolve())
    if (piece === null) parser.end(done)
    else parser.write(piece, done)
  })
}

function refusalOf(error: unknown, line: number): unknown {
  if (error instanceof CsvError) {
    return new FileRefusedError(error.code === 'CSV_MAX_RECORD_SIZE' ? 'RECORD_TOO_LONG' : 'QUOTING', line)
  }
  return error instanceof NotTextError ? new FileRefusedError('NOT_UTF8', error.line) : error
}

function newlinesIn(cells: readonly string[]): number {
  return cells.reduce((sum, cell) => sum + (cell.includes('\n') ? cell.split('\n').length - 1 : 0), 0)
}

/** Limits the bytes since the last complete record, because the parser does not limit the number of cells. */
async function* withLimit(bytes: AsyncIterable<Buffer>, parser: Parser, line: () => number): AsyncGenerator<Buffer> {
  let recordsBefore = -1
  let bytesSince = 0
  for await (const piece of bytes) {
    const { records, empty_lines: empty } = parser.info
    if (records + empty !== recordsBefore) bytesSince = 0
    recordsBefore = records + empty
    bytesSince += piece.length
    if (bytesSince > MAX_UNTERMINATED_BYTES) throw new FileRefusedError('RECORD_TOO_LONG', line())
    yield piece
  }
}
