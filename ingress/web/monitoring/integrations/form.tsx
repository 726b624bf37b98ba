import type { ComponentChildren } from 'preact'
import type { IntegrationKind } from '#shared/monitoring/integrations/kind.ts'
import type { ConfigObject } from '#shared/monitoring/integrations/shown-config.ts'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import type { FieldErrors, FormItem } from '../../forms/fields.tsx'
import { EditForm } from '../../forms/form.tsx'
import { CheckBox } from '../../forms/inputs.tsx'
import type { Context } from '../../shell/context.ts'
import { notesOf, type OptionField, optionFields, textOfOption } from './fields.ts'
import { guideOf } from './guides.ts'
import { labelOfKind } from './labels.ts'
import { TrialButtons } from './webhook-preview.tsx'

interface Props {
  context: Context
  action: string
  kind: IntegrationKind
  name: string
  config: ConfigObject
  others: readonly StoredIntegration[]
  problem: string | null
  /** by option name */
  errors?: FieldErrors
  preview?: ComponentChildren
  isNew: boolean
  /** for a new integration; default true */
  isForAll?: boolean
  cancel: string
}

/** Value of `do` that saves and then sends a test. */
export const SAVE_AND_TEST = 'save-and-test'

export function IntegrationForm(props: Props) {
  const { kind, config, isNew } = props
  const { help } = guideOf(kind.kind)
  const notes = notesOf(kind)
  const fields = optionFields(kind)
  const recovery = kind.kind === 'webhook' ? fields.filter(({ name }) => name.endsWith('_up')) : []
  const option = (field: OptionField) => itemOf(field, props)
  return (
    <EditForm
      context={props.context}
      action={props.action}
      errors={props.problem === null ? named(props.errors) : new Map([['', props.problem]])}
      items={[
        {
          legend: 'What it needs',
          items: [
            {
              name: 'name',
              label: 'Name',
              value: props.name,
              maxLength: 100,
              hint: 'What people call it, like “on-call phone”.',
            },
            ...fields.filter((field) => !recovery.includes(field)).map(option),
            ...(recovery.length > 0
              ? [
                  {
                    summary: 'When a check recovers',
                    isOpen: recovery.some((field) => textOfOption(field, config) !== ''),
                    items: recovery.map(option),
                  },
                ]
              : []),
            {
              content: (
                <>
                  {help !== undefined && (
                    <p class="hint">
                      <a href={help} rel="noopener noreferrer">
                        Where to find these values for {kind.label}
                      </a>
                    </p>
                  )}
                  {notes !== '' && <p class="hint">{notes}</p>}
                  {kind.kind === 'webhook' && <Placeholders />}
                </>
              ),
            },
          ],
        },
        ...(isNew
          ? [
              {
                name: 'all',
                label: 'Use it for every check of this project',
                kind: 'check' as const,
                value: (props.isForAll ?? true) ? 'on' : '',
              },
            ]
          : []),
      ]}
      submit={isNew ? 'Create integration' : 'Save'}
      cancel={props.cancel}
      more={
        <>
          <button type="submit" name="do" value={SAVE_AND_TEST}>
            Save and send test
          </button>
          {kind.kind === 'webhook' && (
            <>
              <button type="submit" name="do" value="preview">
                Show what is sent
              </button>
              <TrialButtons action={props.action} />
            </>
          )}
        </>
      }
    >
      {props.preview}
    </EditForm>
  )
}

/** A click inserts one of these into the current field. */
const PLACEHOLDERS = ['$NAME', '$STATUS', '$NOW', '$TAGS', '$CODE', '$EXITSTATUS', '$JSON', '$BODY']

function Placeholders() {
  return (
    <ul class="chips small presets" aria-label="Placeholders to insert" data-scripted hidden>
      {PLACEHOLDERS.map((name) => (
        <li key={name}>
          <button type="button" class="mono" data-inserts={name} data-into="option-body_down">
            {name}
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Converts option names to field names. */
function named(errors: FieldErrors = new Map()): FieldErrors {
  return new Map([...errors].map(([name, text]) => [`option-${name}`, text]))
}

const KINDS = { flag: 'check', choice: 'segments', 'long-text': 'lines', headers: 'lines', number: 'integer' } as const

export function itemOf(option: OptionField, form: Pick<Props, 'config' | 'others' | 'isNew' | 'errors'>): FormItem {
  const { type, label, isSecret, fallback, choices } = option
  const { config, isNew } = form
  const name = `option-${option.name}`
  const text = textOfOption(option, config)
  if (type === 'integrations') {
    return {
      content: <Members option={option} others={form.others} chosen={text} error={form.errors?.get(option.name)} />,
    }
  }
  const isMasked = isSecret && !option.name.startsWith('url')
  const shared = {
    name,
    label,
    kind: type in KINDS ? KINDS[type as keyof typeof KINDS] : isMasked ? ('password' as const) : ('text' as const),
    hint: hintOf(option, isNew) || undefined,
  }
  switch (type) {
    case 'flag':
      return { ...shared, value: (config[option.name] ?? fallback) === true ? 'on' : '' }
    case 'choice': {
      const automatic = fallback === null ? [{ value: '', label: 'Automatic' }] : []
      const options = [...automatic, ...choices.map((choice) => ({ value: choice, label: choice }))]
      return { ...shared, value: text || String(fallback ?? ''), options }
    }
    case 'long-text':
    case 'headers':
      return { ...shared, value: text, isMono: true }
    case 'number':
      return { ...shared, value: text || String(fallback ?? '') }
    default:
      return {
        ...shared,
        value: text || (typeof fallback === 'string' ? fallback : ''),
        autocomplete: isSecret ? 'new-password' : 'off',
        ...(option.example !== '' && { placeholder: option.example }),
        ...(isSecret && !isNew && { placeholder: 'stored' }),
      }
  }
}

function hintOf({ type, hint, isSecret }: OptionField, isNew: boolean): string {
  if (type === 'flag') return ''
  if (type === 'headers') return `One per line, “Name: value”.${isNew ? '' : ' Leave empty to keep the stored ones.'}`
  return isSecret && !isNew ? `${hint} Leave empty to keep the stored one.`.trimStart() : hint
}

function Members(props: {
  option: OptionField
  others: readonly StoredIntegration[]
  chosen: string
  error: string | undefined
}) {
  const { option, others, chosen, error } = props
  return (
    <div class="choices">
      <p class="sub">{option.label}</p>
      {error !== undefined && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
      {others.length === 0 && <p class="muted">There is no other integration yet.</p>}
      {others.map((other) => (
        <CheckBox
          key={other.uuid}
          name={`option-${option.name}`}
          value={other.uuid}
          isChecked={chosen.includes(other.uuid)}
          label={
            <>
              {other.name || labelOfKind(other.kind)} <small>{labelOfKind(other.kind)}</small>
            </>
          }
        />
      ))}
    </div>
  )
}
