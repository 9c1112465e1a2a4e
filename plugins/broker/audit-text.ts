import type { AuditLine, Authority } from '#kernel';
import type { AuditReportLine } from './contract.ts';

/** Authorities as sentences, in their order; objects with the same verb and detail share one sentence. */
export function renderAuthorities(all: readonly Authority[]): readonly string[] {
  const sentences = new Map<string, { verb: string; detail?: string; objects: Set<string> }>();
  for (const { verb, object, detail } of all) {
    const key = `${verb}\0${detail ?? ''}`;
    const sentence = sentences.get(key) ?? { verb, detail, objects: new Set() };
    sentence.objects.add(object);
    sentences.set(key, sentence);
  }
  return [...sentences.values()].map(({ verb, detail, objects }) => {
    const names = [...objects].filter((object) => object !== '').sort();
    return [verb, names.join(', '), detail === undefined ? '' : `(${detail})`].filter((part) => part !== '').join(' ');
  });
}

/** The lines of the audit with the same authorities in sentences. */
export const withAuditSentences = (lines: readonly AuditLine[]): readonly AuditReportLine[] =>
  lines.map((line) => ({ ...line, sentences: renderAuthorities(line.authorities) }));

/** The audit as text: a column with the name, one with the runtime, and one sentence a line. */
export function renderAudit(lines: readonly AuditLine[]): string {
  const width = Math.max(...lines.map((line) => line.name.length), 0) + 2;
  return withAuditSentences(lines)
    .map(({ name, runtime, sentences }) => {
      const label = runtime === 'full' ? 'FULL' : runtime;
      const indent = ' '.repeat(width + 10);
      return `${name.padEnd(width)}${label.padEnd(10)}${sentences.join(`\n${indent}`)}\n`;
    })
    .join('');
}
