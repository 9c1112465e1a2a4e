/** `$env` of flows, for plugins whose operations show it to code. */
export { readFlowEnvironment } from './flow-environment.ts';
