import type { Card, CardEvidence } from '#shared/risk/packs/pdf/card.ts'
import { EVIDENCE_SENTENCE, type PackDocument } from '#shared/risk/packs/pdf/document.ts'
import { gradeText, missingText, sourceName } from '#shared/risk/packs/pdf/evidence-words.ts'
import { instantText } from '#shared/risk/packs/pdf/figures.ts'
import { tierLabel } from '#shared/risk/packs/pdf/tiers.ts'
import { Tier, TierStrip } from './tiers.tsx'

/** A pack as people read it, in the order of its PDF; the anchor follows after it. */
export function PackView({ document }: { document: PackDocument }) {
  return (
    <>
      <PackHead document={document} />
      <TierStrip tiers={document.tiers} />
      <p class="evidence-sentence">{EVIDENCE_SENTENCE}</p>
      <div class="signal-cards">
        {document.cards.map((card) => (
          <SignalCard key={card.key} card={card} />
        ))}
      </div>
      {document.flags.length > 0 && (
        <section class="card" aria-labelledby="pack-notes">
          <h2 id="pack-notes">Notes</h2>
          <ul>
            {document.flags.map((flag) => (
              <li key={flag} class="breakable">
                {flag}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function PackHead({ document }: { document: PackDocument }) {
  const { packId, generatedAt, isSandbox, level } = document
  return (
    <dl class="facts pack-facts">
      <div>
        <dt>Pack number</dt>
        <dd class="mono breakable">{packId}</dd>
      </div>
      <div>
        <dt>Composed</dt>
        <dd>
          <time dateTime={generatedAt}>{instantText(generatedAt)}</time>
        </dd>
      </div>
      <div>
        <dt>Mode</dt>
        <dd>{isSandbox ? 'Sandbox' : 'Live'}</dd>
      </div>
      <div>
        <dt>Signal level</dt>
        <dd>
          <strong>{level.code}</strong> — {level.meaning}
        </dd>
      </div>
    </dl>
  )
}

function SignalCard({ card }: { card: Card }) {
  const id = `signal-${card.key.replaceAll('.', '-')}`
  return (
    <article class={card.tier === 'MISSING' ? 'card signal-card is-missing' : 'card signal-card'} aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id}>{card.title}</h2>
        <Tier tier={card.tier} />
      </header>
      {card.detail && <p class="breakable">{card.detail}</p>}
      {card.values.length > 0 && (
        <dl class="signal-values">
          {card.values.map(({ label, value }) => (
            <div key={label + value}>
              <dt>{label}</dt>
              <dd class={value === 'missing' ? 'figure is-missing' : 'figure'}>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <Evidence entries={card.evidence} title={card.title} />
      {card.grade && (
        <p class="hint" title={card.grade}>
          Question class: {gradeText(card.grade)}
        </p>
      )}
    </article>
  )
}

function Evidence({ entries, title }: { entries: readonly CardEvidence[]; title: string }) {
  if (entries.length === 0) return null
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={`Evidence of ${title}`}>
      <table class="plain-table evidence">
        <thead>
          <tr>
            <th scope="col">Value</th>
            <th scope="col">Tier</th>
            <th scope="col">Source</th>
            <th scope="col">As of</th>
            <th scope="col">Consent</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.key}>
              <td>{entry.label}</td>
              <td class={entry.tier === 'MISSING' ? 'is-missing' : undefined}>
                {entry.tier === 'MISSING' ? missingText(entry.missingReason ?? null) : tierLabel(entry.tier)}
              </td>
              <td title={entry.source}>{sourceName(entry.source)}</td>
              <td class="figure">{instantText(entry.asOf ?? entry.observedAt)}</td>
              <td class="breakable">{entry.consent ? consentText(entry.consent) : '—'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function consentText({ handle, expiresAt }: NonNullable<CardEvidence['consent']>): string {
  return expiresAt === null ? handle : `${handle}, until ${instantText(expiresAt)}`
}
