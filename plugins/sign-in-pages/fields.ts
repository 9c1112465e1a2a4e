import { attributes, html, type SafeHtml } from './html.ts';
import type { PageProblem } from './problems.ts';

export interface InputField {
  readonly id: string;
  /** Default: the id. */
  readonly name?: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password';
  readonly value?: string | undefined;
  readonly autocomplete?: string;
  readonly hint?: string;
  readonly autofocus?: boolean;
  readonly isRequired?: boolean;
  /** For codes and user names, which no browser may correct. */
  readonly isVerbatim?: boolean;
}

/** The id of the summary of problems. */
const PROBLEM = 'problem';

/** An input with its label, hint and problem, which assistive technology reads with it. */
export function renderInput(field: InputField, problem?: PageProblem): SafeHtml {
  const { id, name = id, label, type = 'text', value, autocomplete, hint, isRequired = true } = field;
  const isWrong = problem?.field === id;
  const described = [...(hint ? [`${id}-hint`] : []), ...(isWrong ? [PROBLEM] : [])].join(' ');
  const verbatim = field.isVerbatim ? { autocapitalize: 'none', autocorrect: 'off', spellcheck: 'false' } : {};
  const maxLength = type === 'email' ? 255 : 1000;
  const input = attributes({
    id,
    name,
    type,
    value: type === 'password' ? undefined : value?.slice(0, maxLength),
    autocomplete,
    ...verbatim,
    required: isRequired,
    // A problem at the top of the page has the focus.
    autofocus: field.autofocus === true && problem === undefined,
    'aria-invalid': isWrong ? 'true' : undefined,
    'aria-describedby': described === '' ? undefined : described,
    maxlength: String(maxLength),
  });
  return html`<div class="field">
<label for="${id}">${label}</label>
${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
<input${input}>
</div>`;
}

/** The summary above a form, which has the focus when the page opens, and leads to the field. */
export const renderProblem = (problem: PageProblem | undefined): SafeHtml | undefined =>
  problem &&
  html`<div class="problem" role="alert" tabindex="-1" autofocus id="${PROBLEM}">
${problem.field === undefined ? problem.text : html`<a href="#${problem.field}">${problem.text}</a>`}
</div>`;

export const renderNotice = (text: string | undefined): SafeHtml | undefined =>
  text === undefined ? undefined : html`<p class="notice" role="status">${text}</p>`;

export const renderHidden = (name: string, value: string): SafeHtml =>
  html`<input type="hidden" name="${name}" value="${value}">`;

export const renderSubmit = (text: string): SafeHtml => html`<button type="submit" class="primary">${text}</button>`;
