import type { BrokerRefusalCode } from './contract.ts';

/** A call of confined code that is not carried out. Its message is shown to that code. */
export class BrokerRefusal extends Error {
  readonly code: BrokerRefusalCode;
  readonly details: unknown;

  constructor(code: BrokerRefusalCode, message: string, details?: unknown) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.details = details;
  }
}

/** Renders the audit as text: sentences of authorities, lines with sentences, and the whole report. */
export { renderAudit, renderAuthorities, withAuditSentences } from './audit-text.ts';
export { AUDIT_VERBS } from './audit-verbs.ts';
export { InvocationSecrets } from './invocation-secrets.ts';
