// Forms that create or use a passkey. They are hidden if the browser does not support passkeys or scripts are off.

const showMessage = (text) => document.dispatchEvent(new CustomEvent('page:message', { detail: text }))

const MESSAGES = {
  InvalidStateError: 'This device has a passkey for your account already.',
  NotAllowedError: 'No passkey was used: it was cancelled, or took too long.',
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) continue
  form.hidden = false
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const options = JSON.parse(form.dataset.options)
    try {
      const credential =
        form.dataset.passkey === 'create'
          ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
          : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
      form.elements.answer.value = JSON.stringify(credential.toJSON())
      form.submit()
    } catch (error) {
      showMessage(MESSAGES[error.name] ?? 'The passkey could not be used.')
    }
  })
}
