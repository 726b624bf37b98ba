/** A sample line. */
export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"/
const VALUE = /^ ([+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/i

/**
 * Reads Prometheus' text format 0.0.4 as strictly as its own checker: help and type once per family and before its
 * samples, families not mixed, no sample twice, known escapes only, a line feed at the end.
 * @throws Error naming the line that is wrong
 */
export function parseExposition(text: string): Sample[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const samples: Sample[] = []
  const closed = new Set<string>()
  const seen = new Set<string>()
  let family = ''
  let stage: 'help' | 'type' | 'samples' = 'samples'
  for (const line of text.slice(0, -1).split('\n')) {
    const fail = (why: string) => new Error(`${why}: ${JSON.stringify(line)}`)
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (keyword === 'HELP') {
      if (closed.has(name)) throw fail('the family was described before')
      closed.add(name)
      family = name
      stage = 'help'
    } else if (keyword === 'TYPE') {
      if (name !== family || stage !== 'help') throw fail('a type without its help')
      if (!['counter', 'gauge', 'histogram', 'summary', 'untyped'].includes(rest)) throw fail('no such type')
      stage = 'type'
    } else {
      const sample = parseSample(line, fail)
      if (sample.name !== family || stage === 'help') throw fail('a sample outside its family')
      const identity = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
      if (seen.has(identity)) throw fail('measured twice')
      seen.add(identity)
      stage = 'samples'
      samples.push(sample)
    }
  }
  return samples
}

function parseSample(line: string, fail: (why: string) => Error): Sample {
  const [name] = NAME.exec(line) ?? []
  if (name === undefined) throw fail('no metric name')
  let rest = line.slice(name.length)
  const labels: Record<string, string> = {}
  if (rest.startsWith('{')) {
    rest = rest.slice(1)
    while (!rest.startsWith('}')) {
      const [whole, label, value] = LABEL.exec(rest) ?? []
      if (whole === undefined || label === undefined || value === undefined) throw fail('no label')
      if (label in labels) throw fail('a label twice')
      labels[label] = value.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char))
      rest = rest.slice(whole.length).replace(/^, ?(?!\})/, '')
    }
    rest = rest.slice(1)
  }
  const [, value] = VALUE.exec(rest) ?? []
  if (value === undefined) throw fail('no value')
  return { name, labels, value: Number(value.replace(/inf/i, 'Infinity')) }
}
