import type { ComponentChildren } from 'preact'
import type { IntegrationKind } from '#shared/monitoring/integrations/kind.ts'
import type { ConfigObject } from '#shared/monitoring/integrations/shown-config.ts'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { CheckBox, TextArea, TextField } from '../../components/form.tsx'
import { SegmentField } from '../../components/segments.tsx'
import type { Context } from '../../shell/context.ts'
import { notesOf, type OptionField, optionFields, textOfOption } from './fields.ts'
import { labelOfKind } from './labels.ts'
import { TrialButtons } from './webhook-preview.tsx'

/** The form of one kind of integration, for a new one and for one that exists. */
export function IntegrationForm(props: {
  context: Context
  action: string
  kind: IntegrationKind
  name: string
  /** without secrets */
  config: ConfigObject
  others: readonly StoredIntegration[]
  problem: string | null
  /** what is wrong with options, by their names */
  errors?: ReadonlyMap<string, string>
  preview?: ComponentChildren
  isNew: boolean
  /** of a new one; true when absent */
  isForAll?: boolean
  cancel: string
}) {
  const { kind, config, isNew } = props
  const notes = notesOf(kind)
  const fields = optionFields(kind)
  const recovery = kind.kind === 'webhook' ? fields.filter(({ name }) => name.endsWith('_up')) : []
  const option = (field: OptionField) => (
    <Option
      key={field.name}
      field={field}
      config={config}
      others={props.others}
      isNew={isNew}
      error={props.errors?.get(field.name)}
    />
  )
  return (
    <EditForm
      context={props.context}
      action={props.action}
      errors={props.problem === null ? props.errors : new Map([['', props.problem]])}
      submit={isNew ? 'Create integration' : 'Save'}
      cancel={props.cancel}
      more={
        kind.kind === 'webhook' && (
          <>
            <button type="submit" name="do" value="preview">
              Show what is sent
            </button>
            <TrialButtons action={props.action} />
          </>
        )
      }
    >
      <fieldset>
        <legend>What it needs</legend>
        <TextField
          label="Name"
          name="name"
          value={props.name}
          maxLength={100}
          hint="What people call it, like “on-call phone”."
        />
        {fields.filter((field) => !recovery.includes(field)).map(option)}
        {recovery.length > 0 && (
          <details
            class="more"
            open={recovery.some((field) => textOfOption(field, config) !== '' || props.errors?.has(field.name))}
          >
            <summary>When a check recovers</summary>
            <div class="stack">{recovery.map(option)}</div>
          </details>
        )}
        {notes !== '' && <p class="hint">{notes}</p>}
        {kind.kind === 'webhook' && <Placeholders />}
      </fieldset>
      {isNew && (
        <CheckBox name="all" isChecked={props.isForAll ?? true} label="Use it for every check that this project has" />
      )}
      {props.preview}
    </EditForm>
  )
}

/** The ones that are used most, put into the field where one is by a press. */
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

function Option(props: {
  field: OptionField
  config: ConfigObject
  others: readonly StoredIntegration[]
  isNew: boolean
  error: string | undefined
}) {
  const { field, config, isNew, error } = props
  const name = `option-${field.name}`
  const said = field.isSecret && !isNew ? `${field.hint} Left empty, the stored one stays.`.trimStart() : field.hint
  const hint = said === '' ? undefined : said
  const text = textOfOption(field, config)
  switch (field.type) {
    case 'flag': {
      const value = config[field.name] ?? field.fallback
      return <CheckBox name={name} isChecked={value === true} label={field.label} />
    }
    case 'choice':
      return (
        <SegmentField
          label={field.label}
          name={name}
          value={text || String(field.fallback ?? '')}
          options={[
            ...(field.fallback === null ? [{ value: '', label: 'Automatic' }] : []),
            ...field.choices.map((choice) => ({ value: choice, label: choice })),
          ]}
          hint={hint}
          error={error}
        />
      )
    case 'long-text':
    case 'headers':
      return (
        <TextArea
          label={field.label}
          name={name}
          value={text}
          isMono
          hint={
            field.type === 'headers'
              ? `One per line, “Name: value”.${isNew ? '' : ' Left empty, the stored ones stay.'}`
              : hint
          }
          error={error}
        />
      )
    case 'integrations':
      return (
        <div class="choices">
          <p class="sub">{field.label}</p>
          {error !== undefined && (
            <p class="field-error" role="alert">
              {error}
            </p>
          )}
          {props.others.length === 0 && <p class="muted">There is no other integration yet.</p>}
          {props.others.map((other) => (
            <CheckBox
              key={other.uuid}
              name={name}
              value={other.uuid}
              isChecked={text.includes(other.uuid)}
              label={
                <>
                  {other.name || labelOfKind(other.kind)} <small>{labelOfKind(other.kind)}</small>
                </>
              }
            />
          ))}
        </div>
      )
    case 'number':
      return (
        <TextField
          label={field.label}
          name={name}
          type="number"
          value={text || String(field.fallback ?? '')}
          hint={hint}
          error={error}
        />
      )
    default:
      return (
        <TextField
          label={field.label}
          name={name}
          type={field.isSecret && !field.name.startsWith('url') ? 'password' : 'text'}
          autocomplete={field.isSecret ? 'new-password' : 'off'}
          value={text || (typeof field.fallback === 'string' ? field.fallback : '')}
          hint={hint}
          error={error}
          {...(field.isSecret && !isNew && { placeholder: 'stored' })}
        />
      )
  }
}
