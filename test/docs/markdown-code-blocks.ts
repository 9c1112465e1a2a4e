import { readFileSync } from 'node:fs';

/** A fenced block of a Markdown document: a shell script that the test runs, or a file that it writes. */
export type GuideCodeBlock =
  | {
      readonly kind: 'shell';
      /** Line of the opening fence, counted from 1. */
      readonly line: number;
      readonly text: string;
      /** Whether the running service is stopped before the commands run. */
      readonly stopsService: boolean;
    }
  | { readonly kind: 'file'; readonly line: number; readonly path: string; readonly text: string };

/** Shell commands and the output that the document shows for them in comment lines below; absent where it shows none. */
export interface DocumentedShellStep {
  readonly commands: string;
  readonly output?: string;
}

const FENCE = /^```(\w+)?(?: +(.*?))?\n([\s\S]*?)^```$/gm;

/** Reads the `sh` blocks of a document and those that name a file (`json file=package.json`). Other blocks are left out. */
export function readGuideCodeBlocks(document: URL): readonly GuideCodeBlock[] {
  const text = readFileSync(document, 'utf8');
  return [...text.matchAll(FENCE)].flatMap((fence): readonly GuideCodeBlock[] => {
    const [, language, options = '', body = ''] = fence;
    const line = text.slice(0, fence.index).split('\n').length;
    const path = /^file=(\S+)$/.exec(options)?.[1];
    if (path !== undefined) return [{ kind: 'file', line, path, text: body }];
    return language === 'sh' ? [{ kind: 'shell', line, text: body, stopsService: options === 'stop' }] : [];
  });
}

/** Splits a shell block into steps: each ends with the output that the document shows for it. */
export function parseShellSteps(text: string): readonly DocumentedShellStep[] {
  const steps: DocumentedShellStep[] = [];
  let commands: string[] = [];
  let output: string[] = [];
  const close = (): void => {
    if (commands.length > 0)
      steps.push({ commands: commands.join('\n'), ...(output.length > 0 ? { output: output.join('\n') } : {}) });
    commands = [];
    output = [];
  };
  for (const line of text.split('\n').filter((one) => one !== '')) {
    if (line.startsWith('# ')) {
      output.push(line.slice(2));
    } else {
      if (output.length > 0) close();
      commands.push(line);
    }
  }
  close();
  return steps;
}

/** Whether printed output matches the output in the document, where `…` stands for any text. White space is ignored. */
export function matchesDocumentedOutput(printed: string, shown: string): boolean {
  const compact = (text: string): string => text.replace(/\s+/g, '');
  const pattern = compact(shown)
    .split('…')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${pattern}$`).test(compact(printed));
}
