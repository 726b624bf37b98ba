// Shows the progress of an upload. Without this script the browser submits the form without progress.
document.addEventListener('submit', (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || !form.matches('form[data-upload]')) return
  event.preventDefault()
  const bar = form.querySelector('progress')
  const status = form.querySelector('[role="status"]')
  const button = form.querySelector('button[type="submit"]')
  const { files } = form.querySelector('input[type="file"]')
  // The service refuses the file as well, but must close the connection then.
  if (files[0]?.size > Number(form.dataset.upload)) {
    status.textContent = `The file is larger than ${Number(form.dataset.upload) / 1024 ** 2} MiB.`
    return
  }
  const request = new XMLHttpRequest()
  const failed = () => {
    bar.hidden = true
    button.disabled = false
    status.textContent = 'The connection was lost. Nothing of the file was stored. Upload it again.'
  }
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    bar.max = total
    bar.value = loaded
    status.textContent =
      loaded < total ? `${Math.floor((loaded / total) * 100)} % uploaded` : 'Uploaded. The file is being stored.'
  })
  request.addEventListener('load', () => {
    if (request.status < 400) return location.assign(request.responseURL)
    const page = new DOMParser().parseFromString(request.responseText, 'text/html')
    document.querySelector('main').replaceWith(page.querySelector('main'))
    document.querySelector('main [role="alert"]')?.focus()
  })
  request.addEventListener('error', failed)
  request.addEventListener('abort', failed)
  request.open('POST', form.action)
  bar.hidden = false
  button.disabled = true
  request.send(new FormData(form))
})
