import type { Check, FilterRules } from '#shared/monitoring/checks/check.ts'

type Filters = Pick<Check, 'failureKw' | 'successKw' | 'startKw' | 'filterDefaultFail'>

/** Returns the keyword rules for request bodies as a sentence: `Fails if /status contains "firing"; otherwise the URL decides`. */
export function filterSentence(check: Filters, rules: FilterRules): string {
  const place = rules.json ?? 'the body'
  const parts = [
    ['fails', check.failureKw],
    ['succeeds', check.successKw],
    ['starts', check.startKw],
  ].flatMap(([effect, text = '']) => {
    const words = text.split(',').flatMap((word) => (word.trim() === '' ? [] : `"${word.trim()}"`))
    return words.length === 0 ? [] : `${effect} if ${place} contains ${words.join(' or ')}`
  })
  const sentence = [...parts, `otherwise ${otherwiseText(check, rules)}`].join('; ')
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}

function otherwiseText(check: Filters, rules: FilterRules): string {
  if (rules.else === 'url') return 'the URL decides'
  return check.filterDefaultFail ? 'a failure' : 'ignored'
}
