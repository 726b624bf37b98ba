import PDFDocument from 'pdfkit'

/**
 * An empty tagged document, in which nothing but what is given decides a byte: dates are those of its subject and
 * streams stay uncompressed, since deflate differs between machines.
 * @param at ISO 8601 UTC
 */
export function openDocument(
  at: string,
  info: { Title: string; Subject?: string; Keywords: string },
): PDFKit.PDFDocument {
  const date = new Date(at)
  return new PDFDocument({
    size: 'A4',
    margin: 0,
    autoFirstPage: false,
    bufferPages: true,
    compress: false,
    pdfVersion: '1.7',
    tagged: true,
    displayTitle: true,
    lang: 'en-IN',
    info: { ...info, Creator: 'Signalbox', CreationDate: date, ModDate: date },
  })
}
