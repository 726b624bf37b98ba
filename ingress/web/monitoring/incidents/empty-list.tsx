import { EmptyCard } from '../../lists/empty-card.tsx'
import { listAddress, type Tab } from './list-query.ts'

const TEXTS = {
  open: {
    title: 'No open incidents',
    text: 'An incident opens when a check goes down, and resolves when it is up again. Here you acknowledge it, take it over or mute it.',
  },
  acknowledged: {
    title: 'No acknowledged incidents',
    text: 'An acknowledgement states that a person is working on an open incident. It stops further alerts.',
  },
  resolved: {
    title: 'No resolved incidents',
    text: 'An incident resolves when its check is up again. It stays here with its timeline and its report.',
  },
  mine: {
    title: 'No incidents of yours',
    text: 'Here are the open incidents that are assigned to you or acknowledged by you.',
  },
} as const

/** Tabs that an empty tab links to, if they have incidents. */
const OTHERS = [
  ['open', 'Open incidents'],
  ['resolved', 'Resolved incidents'],
] as const

/** Replaces a tab without incidents: explains what it lists, and offers the next step. */
export function NoIncidents(props: {
  tab: Tab
  base: string
  counts: Readonly<Record<string, number>>
  /** the user may add the first policy */
  lacksPolicy: boolean
}) {
  const { tab, base, counts, lacksPolicy } = props
  const { title, text } = TEXTS[tab]
  const isWithoutPolicy = tab === 'open' && lacksPolicy
  const others = OTHERS.filter(([other]) => other !== tab && (counts[other] ?? 0) > 0)
  return (
    <EmptyCard title={title}>
      <p>{text}</p>
      {isWithoutPolicy && <p>A policy decides who is notified, when and how often.</p>}
      {(isWithoutPolicy || others.length > 0) && (
        <p class="row">
          {isWithoutPolicy && (
            <a class="button" href={`${base}/policies/new`}>
              Add a policy
            </a>
          )}
          {others.map(([other, label]) => (
            <a key={other} class="button" href={listAddress(`${base}/incidents`, { tab: other })}>
              {label}
            </a>
          ))}
        </p>
      )}
    </EmptyCard>
  )
}
