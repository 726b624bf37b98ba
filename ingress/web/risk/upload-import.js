// Says how much of a file is sent. Without it the browser sends the form by itself, and shows nothing meanwhile.
document.addEventListener('submit', (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || !form.matches('form[data-upload]')) return
  event.preventDefault()
  const bar = form.querySelector('progress')
  const said = form.querySelector('[data-said]')
  const button = form.querySelector('button[type="submit"]')
  const { files } = form.querySelector('input[type="file"]')
  // Refused by the service too, which by then has to break the connection off.
  if (files[0]?.size > Number(form.dataset.upload)) {
    said.textContent = 'The file is longer than what is taken.'
    return
  }
  const request = new XMLHttpRequest()
  const failed = () => {
    bar.hidden = true
    button.disabled = false
    said.textContent = 'The connection broke. Nothing of the file was kept; send it again.'
  }
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    bar.max = total
    bar.value = loaded
    said.textContent = loaded < total ? `${Math.floor((loaded / total) * 100)} % sent` : 'Sent; one moment.'
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
