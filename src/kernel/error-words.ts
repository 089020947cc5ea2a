import zh from './error-words/zh.json' with { type: 'json' }

/** What each code of the error table means to a person, and what to do. The console has them in both languages. */
export const ERROR_WORDS_ZH: Readonly<Record<string, string>> = zh
