import { type Micros, microsOfSeconds, toSeconds } from '../../time.ts'
import { expandRules, listFor, type SequenceEntry } from '../contacts/contact-rules.ts'
import type {
  FactPerson,
  Facts,
  Incident,
  PeopleFacts,
  PersonalNotification,
  PersonalRow,
  PersonDecision,
  Sequence,
  SequenceState,
} from './incident.ts'
import type { StepTarget } from './policy.ts'
import type { NotifiedReason, SkippedReason } from './reasons.ts'
import { isUnsent, MANUAL_ENTRIES } from './recovery.ts'

const NO_PEOPLE: PeopleFacts = { schedules: [], people: [], notifications: [] }
export const NO_SEQUENCES: SequenceState = {
  started: [],
  list: [],
  shifts: [],
  isFallbackUsed: false,
  isLastResort: false,
}

export function peopleOf({ people }: Facts): PeopleFacts {
  return people ?? NO_PEOPLE
}

interface Origin {
  step: number
  repeat: number
  reason: NotifiedReason
  suppressedBy?: string
  /** time on the plan's clock */
  start: Micros
}

/** One evaluation of the sequences of an incident. */
export class SequenceRound {
  readonly notifications: PersonalNotification[] = []
  readonly decisions: PersonDecision[] = []
  readonly withdrawn: string[] = []
  readonly state: { -readonly [Name in keyof SequenceState]: SequenceState[Name] }
  readonly #draft: Incident
  readonly #facts: Facts
  readonly #people: PeopleFacts
  readonly #alertAt: Micros
  readonly #now: Micros
  /** the last evaluation */
  readonly #since: Micros
  /** steps whose repeat ended a sequence before its last entry */
  readonly #restarted = new Set<number>()

  constructor(draft: Incident, facts: Facts, { alertAt, now }: { alertAt: Micros; now: Micros }) {
    this.#draft = draft
    this.#facts = facts
    this.#people = peopleOf(facts)
    this.#alertAt = alertAt
    this.#now = now
    this.#since = draft.evaluatedAt ?? 0
    this.state = { ...(draft.sequences ?? NO_SEQUENCES) }
  }

  /** Ends the sequences of persons whose shift has ended, and starts those of their successors. */
  changeShifts(): void {
    for (const { schedule: id, step, person } of this.state.shifts) {
      const schedule = this.#people.schedules.find((one) => one.id === id)
      if (!schedule || schedule.person === person) continue
      for (const sequence of this.state.list) {
        if (this.#personOf(sequence)?.address !== schedule.person) this.#leave(sequence, schedule)
      }
      const start = this.#now - this.#alertAt
      this.start({ schedule: id }, { step, repeat: 0, reason: 'SHIFT_CHANGED', start })
    }
  }

  /** Starts the sequence of a person. Returns false if the target reaches no person. */
  start(target: StepTarget, origin: Origin): boolean {
    const schedule = 'schedule' in target ? this.#people.schedules.find(({ id }) => id === target.schedule) : null
    const address = 'person' in target ? target.person : (schedule?.person ?? null)
    if ('schedule' in target) this.#follow(target.schedule, origin.step, address)
    const note = (reason: SkippedReason) =>
      this.#note({ person: address, ...(schedule && { schedule: schedule.name }), outcome: 'skipped', reason })
    if (address === null) return note('NOBODY_ON_CALL')
    const person = this.#people.people.find((one) => one.address === address)
    const entries = person?.[listFor(this.#facts.severity)] ?? []
    if (!person || entries.length === 0) return note('UNREACHABLE')
    const running = this.state.list.find(({ userId }) => userId === person.userId)
    const isRepeated = running?.step === origin.step && origin.repeat > running.repeat
    if (running && !running.isEnded && running.entries.length > 0 && !isRepeated) {
      this.#replace({ ...running, targets: withTarget(running.targets, target) })
      const isSame = running.step === origin.step && running.start === origin.start
      if (!isSame) note('ALREADY_NOTIFIED')
      return true
    }
    if (isRepeated) this.#restarted.add(origin.step)
    this.#replace({ userId: person.userId, targets: [target], ...origin, entries: [...entries], isEnded: false })
    return true
  }

  /** Notes that a step does not apply to its targets. */
  skip(targets: readonly StepTarget[], reason: SkippedReason): void {
    for (const target of targets) {
      const schedule = 'schedule' in target ? this.#people.schedules.find(({ id }) => id === target.schedule) : null
      const person = 'person' in target ? target.person : (schedule?.person ?? null)
      this.#note({ person, ...(schedule && { schedule: schedule.name }), outcome: 'skipped', reason })
    }
  }

  /** Notifies by the entries that are due. An entry whose method is not usable any more is skipped. */
  sendDue(): void {
    for (const sequence of this.state.list) {
      const person = this.#personOf(sequence)
      const schedule = this.#scheduleOf(sequence)
      const named = { person: person?.address ?? null, ...(schedule !== null && { schedule }) }
      if (!person && !sequence.isEnded) {
        this.#replace({ ...sequence, entries: [], isEnded: true })
        this.#note({ ...named, outcome: 'skipped', reason: 'UNREACHABLE' })
        continue
      }
      const timed = person ? this.#timed(sequence, person) : []
      const isQuiet = timed.some(({ isDelayed, after }) => {
        const planned = this.#alertAt + sequence.start + microsOfSeconds(after)
        return isDelayed && planned <= this.#now && planned >= this.#since
      })
      if (isQuiet) this.#note({ ...named, outcome: 'suppressed', reason: 'QUIET_HOURS' })
      const due = timed.filter(({ dueAt }) => dueAt <= this.#now)
      if (due.length === 0) continue
      const rest = timed.filter(({ dueAt }) => dueAt > this.#now).map(({ after, method }) => ({ after, method }))
      this.#replace({ ...sequence, entries: rest })
      // After a delay, two entries of one method may be due at once.
      const isFirst = (entry: SequenceEntry, index: number) =>
        !entry.isJoined && due.findIndex(({ method }) => method === entry.method) === index
      for (const entry of due.filter(isFirst)) {
        const method = person?.methods.find(({ id }) => id === entry.method)
        const refused = !method ? 'METHOD_GONE' : method.isUsable ? null : 'METHOD_DISABLED'
        if (refused) this.#note({ ...named, outcome: 'skipped', reason: refused })
        else this.#notify(sequence, entry, schedule)
      }
      if (this.notifications.some(({ userId }) => userId === sequence.userId))
        this.#note({ ...named, outcome: 'notified', reason: sequence.reason })
    }
  }

  /** Returns when the next entry of a sequence is due. */
  nextEntryAt(): Micros | null {
    const times = this.state.list.flatMap((sequence) => {
      const person = this.#personOf(sequence)
      return person ? this.#timed(sequence, person).map(({ dueAt }) => dueAt) : []
    })
    return times.length === 0 ? null : Math.min(...times)
  }

  nextShiftAt(): Micros | null {
    const times = this.state.shifts.flatMap(
      ({ schedule }) => this.#people.schedules.find(({ id }) => id === schedule)?.until ?? [],
    )
    return times.length === 0 ? null : Math.min(...times)
  }

  /**
   * Returns true if all notifications of a step ended failed or suppressed, and no further one follows. If other steps
   * were notifying its people, their notifications count.
   */
  isLost(step: number): boolean {
    const rows = [...this.#facts.notifications, ...this.#people.notifications].filter(
      (row) => row.status === 'down' && !row.isReplaced,
    )
    const own = rows.filter((row) => row.step === step)
    const isRunning = this.state.list.some(
      (one) => (one.step === step || own.length === 0) && !one.isEnded && one.entries.length > 0,
    )
    const isInterrupted = own.length === 0 ? this.#restarted.size > 0 : this.#restarted.has(step)
    if ((isRunning && !isInterrupted) || this.notifications.length > 0) return false
    const sent = own.length > 0 ? own : rows
    // Without a notification, all sequences ended before their first entry.
    if (sent.length === 0) return this.state.list.length > 0
    return sent.every(({ state }) => state === 'failed' || state === 'suppressed')
  }

  /** Returns true if the person to whom the incident was assigned cannot be notified any more. */
  isAssigneeLost(): boolean {
    const sequence = this.state.list.findLast(({ reason }) => reason === 'REASSIGNED')
    if (!sequence) return true
    if (sequence.entries.length > 0 || this.notifications.length > 0) return false
    const { userId, step } = sequence
    const rows = this.#people.notifications.filter((row) => row.userId === userId && row.step === step)
    return rows.every(({ state, isReplaced }) => !isReplaced && (state === 'failed' || state === 'suppressed'))
  }

  isRestarted(step: number): boolean {
    return this.#restarted.has(step)
  }

  #timed({ entries, start, isEnded }: Sequence, { quiet }: FactPerson): SequenceEntry[] {
    if (isEnded) return []
    return expandRules({ entries, severity: this.#facts.severity, quiet, startAt: this.#alertAt + start })
  }

  #notify(sequence: Sequence, { method, after, dueAt }: SequenceEntry, schedule: string | null): void {
    const { userId, step, repeat, reason, start, suppressedBy: name } = sequence
    const what = repeat === 0 ? 'first' : 'repeat'
    const entry = Math.round(toSeconds(start)) + after
    const isUsed = this.#people.notifications.some(
      (row) => row.methodId === method && row.what === what && row.entry === entry,
    )
    this.notifications.push({
      userId,
      methodId: method,
      what,
      status: 'down',
      flipId: null,
      after,
      entry: isUsed ? MANUAL_ENTRIES + Math.floor(toSeconds(this.#now - this.#draft.downAt)) : entry,
      detail: {
        step,
        repeat,
        reason,
        dueAt,
        ...(name !== undefined && { name }),
        ...(schedule !== null && { schedule }),
      },
    })
  }

  /** Ends a sequence that only this schedule selected. */
  #leave(sequence: Sequence, schedule: { id: string; name: string }): void {
    const targets = sequence.targets.filter((target) => !('schedule' in target) || target.schedule !== schedule.id)
    if (sequence.isEnded || targets.length === sequence.targets.length) return
    const isEnded = targets.length === 0
    this.#replace({ ...sequence, targets, ...(isEnded && { entries: [], isEnded }) })
    if (!isEnded) return
    this.withdrawn.push(...unsentOf(this.#people.notifications, sequence.userId))
    const person = this.#personOf(sequence)?.address ?? null
    this.#note({ person, schedule: schedule.name, outcome: 'skipped', reason: 'SHIFT_ENDED' })
  }

  #follow(schedule: string, step: number, person: string | null): void {
    this.state.shifts = [...this.state.shifts.filter((one) => one.schedule !== schedule), { schedule, step, person }]
  }

  #replace(sequence: Sequence): void {
    const others = this.state.list.filter(({ userId }) => userId !== sequence.userId)
    this.state.list = [...others, sequence]
  }

  #personOf({ userId }: Sequence): FactPerson | undefined {
    return this.#people.people.find((person) => person.userId === userId)
  }

  #scheduleOf({ targets }: Sequence): string | null {
    const ids = targets.flatMap((target) => ('schedule' in target ? [target.schedule] : []))
    return this.#people.schedules.find(({ id }) => ids.includes(id))?.name ?? null
  }

  #note(decision: PersonDecision): false {
    this.decisions.push(decision)
    return false
  }
}

function withTarget(targets: readonly StepTarget[], target: StepTarget): StepTarget[] {
  const key = JSON.stringify(target)
  return targets.some((one) => JSON.stringify(one) === key) ? [...targets] : [...targets, target]
}

export function unsentOf(rows: readonly PersonalRow[], userId: number | null = null): string[] {
  return rows
    .filter((row) => row.status === 'down' && (userId === null || row.userId === userId) && isUnsent(row))
    .map(({ id }) => id)
}
