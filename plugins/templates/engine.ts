import { type FS, Liquid } from 'liquidjs';
import type { TemplateRenderOptions } from './contract.ts';
import { MAX_CACHED_TEMPLATE_ENGINES, TEMPLATE_LIMITS } from './limits.ts';

/** A template that cannot be rendered. The message is one line, about the template. */
export class TemplateError extends Error {}

const refuseFile = (): never => {
  throw new TemplateError('templates do not read files');
};
const NO_FILES: FS = {
  exists: async () => false,
  existsSync: () => false,
  readFile: async () => refuseFile(),
  readFileSync: refuseFile,
  resolve: refuseFile,
  dirname: refuseFile,
  contains: async () => false,
  containsSync: () => false,
  sep: '/',
};

/** Tags that load another template. */
const REMOVED_TAGS = ['include', 'render', 'layout', 'block'];

function createEngine({ tagLeft, tagRight, outputLeft, outputRight, escapeHtml }: TemplateRenderOptions): Liquid {
  const engine = new Liquid({
    fs: NO_FILES,
    root: [],
    partials: [],
    layouts: [],
    relativeReference: false,
    strictFilters: true,
    ownPropertyOnly: true,
    // Templates have the same result on every machine.
    locale: 'en-US',
    timezoneOffset: 0,
    parseLimit: TEMPLATE_LIMITS.parse,
    renderLimit: TEMPLATE_LIMITS.render,
    memoryLimit: TEMPLATE_LIMITS.memory,
    ...(escapeHtml ? { outputEscape: 'escape' as const } : {}),
    ...(tagLeft === undefined ? {} : { tagDelimiterLeft: tagLeft }),
    ...(tagRight === undefined ? {} : { tagDelimiterRight: tagRight }),
    ...(outputLeft === undefined ? {} : { outputDelimiterLeft: outputLeft }),
    ...(outputRight === undefined ? {} : { outputDelimiterRight: outputRight }),
  });
  for (const tag of REMOVED_TAGS) delete engine.tags[tag];
  return engine;
}

export type RenderTemplate = (
  template: string,
  data: Record<string, unknown>,
  options: TemplateRenderOptions,
) => string;

/** Creates the function that renders a template; it throws a TemplateError with one line. */
export function createTemplateRenderer(): RenderTemplate {
  const engines = new Map<string, Liquid>();

  function engineFor(options: TemplateRenderOptions): Liquid {
    const { tagLeft, tagRight, outputLeft, outputRight, escapeHtml = false } = options;
    const key = JSON.stringify([tagLeft, tagRight, outputLeft, outputRight, escapeHtml]);
    const engine = engines.get(key) ?? createEngine(options);
    // Moved to the end, so that the engine unused for longest is removed first.
    engines.delete(key);
    engines.set(key, engine);
    if (engines.size > MAX_CACHED_TEMPLATE_ENGINES) engines.delete(engines.keys().next().value as string);
    return engine;
  }

  return (template, data, options) => {
    try {
      const text: unknown = engineFor(options).parseAndRenderSync(template, data);
      const rendered = typeof text === 'string' ? text : String(text ?? '');
      if (rendered.length > TEMPLATE_LIMITS.output || Buffer.byteLength(rendered) > TEMPLATE_LIMITS.output)
        throw new TemplateError(`the result is longer than ${TEMPLATE_LIMITS.output} bytes`);
      return rendered;
    } catch (error) {
      throw error instanceof TemplateError ? error : new TemplateError(renderError(error));
    }
  };
}

/** The message of an error with its position, without the excerpt of the template. */
const renderError = (error: unknown): string =>
  (error instanceof Error ? error.message : 'it cannot be rendered')
    .split('\n', 1)[0]
    ?.replace(/\p{Cc}+/gu, ' ')
    .slice(0, 200) ?? '';
