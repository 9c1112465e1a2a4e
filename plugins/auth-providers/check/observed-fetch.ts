import type { ProviderFetch, ProviderFinding } from '../contract.ts';

interface Observation {
  readonly host: string;
  /** Milliseconds until the answer. */
  readonly duration: number;
  /** Milliseconds that the clock of the provider is ahead of that of this machine; undefined where the answer has no date. */
  readonly skew: number | undefined;
}

/** What was seen of a provider beside its answers. */
export interface ObservedFetch {
  readonly fetch: ProviderFetch;
  /** The slowest answer, and the clock. `tolerance`, `timeout`: milliseconds. */
  findings(terms: { readonly tolerance: number; readonly timeout: number }): readonly ProviderFinding[];
}

/** Milliseconds within which a date header is exact: it has no fractions of seconds. */
const DATE_PRECISION = 1000;

export function observeFetch(request: ProviderFetch): ObservedFetch {
  const observations: Observation[] = [];
  return {
    fetch: async (url, init) => {
      const begun = Date.now();
      const answer = await request(url, init);
      const ended = Date.now();
      const date = Date.parse(answer.headers.get('date') ?? '');
      // The answer was dated at some moment between.
      const skew = date < begun ? Math.min(0, date + DATE_PRECISION - begun) : Math.max(0, date - ended);
      observations.push({
        host: new URL(url).host,
        duration: ended - begun,
        skew: Number.isNaN(date) ? undefined : skew,
      });
      return answer;
    },

    findings({ tolerance, timeout }) {
      const slowest = observations.toSorted((a, b) => b.duration - a.duration)[0];
      if (!slowest) return [];
      const skews = observations.flatMap(({ skew }) => (skew === undefined ? [] : skew));
      const skew = skews.toSorted((a, b) => Math.abs(b) - Math.abs(a))[0];
      return [describeDuration(slowest, timeout), ...(skew === undefined ? [] : [describeSkew(skew, tolerance)])];
    },
  };
}

function describeDuration({ host, duration }: Observation, timeout: number): ProviderFinding {
  const text = `the slowest answer, of ${host}, took ${duration} ms`;
  if (duration <= timeout / 4) return { check: 'response times', status: 'ok', text };
  const remedy = `a sign-in has ${timeout} ms for several requests: raise TIMEOUT, or look for what slows the provider`;
  return { check: 'response times', status: 'warn', text, remedy };
}

function describeSkew(skew: number, tolerance: number): ProviderFinding {
  const seconds = Math.round(Math.abs(skew) / 1000);
  if (seconds === 0) return { check: 'clock', status: 'ok', text: 'the clocks agree' };
  const text = `the clock of the provider is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} that of this machine, of ${tolerance / 1000} s that are tolerated`;
  if (Math.abs(skew) <= tolerance / 2) return { check: 'clock', status: 'ok', text };
  const remedy = 'correct the clock that is wrong, by NTP, rather than CLOCK_TOLERANCE';
  return { check: 'clock', status: Math.abs(skew) > tolerance ? 'fail' : 'warn', text, remedy };
}
