/** What lets this page add style elements under its policy; the server makes one for each answer. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
