/** The plain evaluator that answers are compared with; it shares nothing with the engine. */
export { Reference } from './permissions/reading.ts';
export * from './permissions/shapes.ts';
