import type { BenchScenario } from './bench-scenarios.ts';
import type { LoadFiguresByServer } from './rounds.ts';

/** Largest allowed ratio of CPU time per request to that of the hand-written server, by kind of shape. */
const AIMS: Readonly<Record<BenchScenario['kind'], number>> = { one: 1.6, list: 1.25, write: 2, batch: 1.5 };
/** Largest allowed ratio of the CPU time of a list under a row rule and a field list to that of the same list as admin. */
const RULE = 1.15;

/** The header of the table of results. `other`: the name of the server that the service is compared with. */
export const benchTableHeader = (other: string): string =>
  `${'shape'.padEnd(27)}  requests/s     ${other}  ratio   CPU ms/request     ${other}  ratio   aim   server ms  ${other}`;

export function renderBenchTableLine(
  { name, kind, aim = AIMS[kind] }: BenchScenario,
  { service, ideal }: LoadFiguresByServer,
): string {
  const ratio = service.cpu / ideal.cpu;
  return [
    name.padEnd(27),
    cell(service.perSecond, 12, 1),
    cell(ideal.perSecond, 10, 1),
    cell(service.perSecond / ideal.perSecond, 7, 2),
    cell(service.cpu, 17, 3),
    cell(ideal.cpu, 10, 3),
    cell(ratio, 7, 2),
    cell(aim, 6, 2),
    cell(service.serverCpu, 12, 3),
    cell(ideal.serverCpu, 7, 3),
    ratio > aim ? '  missed' : '',
  ].join('');
}

const cell = (number: number, width: number, digits: number): string => number.toFixed(digits).padStart(width);

/** Renders one line per aim: whether it is met, or which shapes miss it. */
export function judgeBenchScenarios(measured: ReadonlyMap<BenchScenario, LoadFiguresByServer>): readonly string[] {
  const kinds: readonly [BenchScenario['kind'], string][] = [
    ['one', 'read one'],
    ['list', 'lists and nested reads'],
    ['write', 'single writes'],
    ['batch', 'batch writes'],
  ];
  const lines = kinds.flatMap(([kind, what]) => {
    const ratios = [...measured]
      .filter(([shape]) => shape.kind === kind)
      .map(([{ name }, { service, ideal }]) => ({ name, ratio: service.cpu / ideal.cpu }));
    if (ratios.length === 0) return [];
    const missing = ratios
      .filter(({ ratio }) => ratio > AIMS[kind])
      .map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`);
    const worst = Math.max(...ratios.map(({ ratio }) => ratio)).toFixed(2);
    return [judged(what, `CPU ratio at most ${AIMS[kind]}`, `worst ${worst}`, missing)];
  });
  const names = new Map([...measured].map(([shape, figures]) => [shape.name, figures]));
  for (const [{ name, like }, { service }] of measured) {
    const other = like === undefined ? undefined : names.get(like);
    if (!other) continue;
    const ratio = service.cpu / other.service.cpu;
    lines.push(
      judged(name, `CPU at most ${RULE} × "${like}"`, ratio.toFixed(2), ratio > RULE ? [ratio.toFixed(2)] : []),
    );
  }
  return lines;
}

const judged = (what: string, aim: string, found: string, missing: readonly string[]): string =>
  `${what.padEnd(27)}${aim.padEnd(42)}${found.padEnd(13)}${missing.length === 0 ? 'met' : `missed: ${missing.join(', ')}`}`;
