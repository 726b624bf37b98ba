import { addressOf, isGatewaySet, maskedAddress } from '#shared/monitoring/contacts/contact-kinds.ts'
import { type ContactMethod, methodState } from '#shared/monitoring/contacts/contact-method.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import type { Config } from '#shared/platform/process/config.ts'
import { ButtonForm, FieldForm } from '../../forms/form.tsx'
import type { Context } from '../../shell/context.ts'

/** Shows addresses in full to their owner, except secrets. */
export function shownAddress({ kind, config }: ContactMethod): string {
  if (config === null) return ''
  return maskedAddress(kind, config) === '***' ? 'stored key' : addressOf(kind, config)
}

export function stateText(method: ContactMethod, config: Config): string {
  switch (methodState(method, config)) {
    case 'usable':
      return 'Verified'
    case 'unverified':
      return 'Not verified: nothing is sent'
    case 'disabled':
      return `Disabled${method.lastError === '' ? '' : `: ${method.lastError}`}`
    case 'gateway':
      return 'Not configured by the operator'
    case 'incomplete':
      return 'Settings are missing'
  }
}

/** State, verification and actions of one contact method. */
export function MethodHead({ context, method }: { context: Context; method: ContactMethod }) {
  const base = `/account/notifications/${method.id}`
  const { config } = context.deps
  const label = findKind(method.kind)?.label ?? method.kind
  const canSend = method.config !== null && isGatewaySet(method.kind, config)
  return (
    <section class="card" aria-labelledby="state-title">
      <h2 id="state-title">State</h2>
      <p class="breakable">
        {label} {shownAddress(method)}: <b>{stateText(method, config)}</b>
      </p>
      {!method.isVerified && canSend && method.isAccount && (
        <p>
          Verify the address of your account: <a href="/reset-password">request a mail</a> and use its link.
        </p>
      )}
      {!method.isVerified && canSend && !method.isAccount && (
        <>
          <ButtonForm context={context} action={`${base}/code`} label="Send code" />
          <FieldForm
            context={context}
            action={`${base}/verify`}
            class="inline-fields"
            items={[
              {
                name: 'code',
                label: 'Code of six digits',
                value: context.query.get('code') ?? '',
                autocomplete: 'one-time-code',
                maxLength: 20,
                isRequired: true,
              },
            ]}
            submit="Verify"
          />
        </>
      )}
      <div class="row">
        {method.isVerified && canSend && <ButtonForm context={context} action={`${base}/test`} label="Send test" />}
        {method.isDisabled && <ButtonForm context={context} action={`${base}/enable`} label="Enable" />}
        {!method.isAccount && (
          <ButtonForm
            context={context}
            action={`${base}/delete`}
            label="Delete"
            variant="danger"
            confirm="Delete this contact method? Its notification rules are deleted too."
            yes="Delete"
          />
        )}
      </div>
    </section>
  )
}
