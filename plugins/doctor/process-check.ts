import type { DoctorCheck, DoctorFinding } from './contract.ts';

/** The oldest Node that runs the service: major and minor version. */
const OLDEST_NODE = [24, 12] as const;

/** What belongs to no other plugin: Node, and the address of the service. */
export const createProcessCheck = (publicUrl: string): DoctorCheck => ({
  name: 'process',
  run: async () => [checkNode(process.versions.node), checkPublicUrl(publicUrl)],
});

function checkNode(version: string): DoctorFinding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNewEnough = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  return isNewEnough
    ? { status: 'ok', text: `Node ${version}` }
    : { status: 'fail', text: `Node ${version}`, remedy: `run it with Node ${OLDEST_NODE.join('.')} or newer` };
}

/** A host with a port, as in `example.com:8055`, is a URL, too: of the scheme `example.com`. */
const isWebAddress = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? '');

const checkPublicUrl = (url: string): DoctorFinding =>
  isWebAddress(url)
    ? { status: 'ok', text: `clients reach the service at ${url}` }
    : {
        status: 'warn',
        text: `PUBLIC_URL is ${url}: links in mails lead nowhere, and sign-in providers cannot come back`,
        remedy: 'set PUBLIC_URL to the address that clients use, such as https://example.com',
      };
