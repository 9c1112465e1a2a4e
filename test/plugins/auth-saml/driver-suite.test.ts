import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Host } from '#kernel';
import { linkTokens, sessions } from '../../../plugins/auth/contract.ts';
import {
  authProviders,
  type ProviderDriverDeclaration,
  providerSignIns,
} from '../../../plugins/auth-providers/contract.ts';
import { routes, routing } from '../../../plugins/http/contract.ts';
import { systemCollections } from '../../../plugins/schema/contract.ts';
import { type AuthDriverKit, describeAuthDriver, type SuiteUser } from '../../support/auth-driver-suite.ts';
import { withoutSignature } from '../../support/saml-forge.ts';
import { type SamlUser, startSamlIdentityProvider } from '../../support/saml-identity-provider.ts';
import { SP_CERTIFICATE, SP_KEY } from '../../support/saml-keys.ts';
import { withBootedTestPlugins } from '../../support/test-plugins.ts';

const USERS: Readonly<Record<SuiteUser, SamlUser>> = {
  ann: { name: 'ann', email: 'ann@example.com', groups: ['editors', 'staff'] },
  bob: { name: 'bob', email: 'bob@example.com', groups: ['staff'] },
};

const FAULTS: Readonly<Record<'hang' | 'down' | 'garbage', (response: ServerResponse) => void>> = {
  hang: () => {},
  down: (response) => void response.socket?.destroy(),
  garbage: (response) => void response.writeHead(200, { 'content-type': 'application/xml' }).end('\u0001<'),
};

/** What `auth-saml` contributes, beside a plugin that stands for all it needs. Nothing is started. */
async function readDeclaration(): Promise<ProviderDriverDeclaration> {
  let declaration: ProviderDriverDeclaration | undefined;
  let read: () => ProviderDriverDeclaration | undefined = () => undefined;
  const stub = {
    name: 'needs-of-auth-saml',
    manifest: {
      facets: ['auth.providers', 'http.routes', 'schema.system'],
      provides: { 'link-tokens': '1.0.0', 'provider-sign-ins': '1.0.0', routing: '1.0.0', sessions: '1.0.0' },
    },
    register(host: Host) {
      host.define(authProviders);
      host.define(routes);
      host.define(systemCollections);
      for (const service of [linkTokens, providerSignIns, routing, sessions])
        host.provide(service as never, {} as never);
      read = () => host.read(authProviders).get('saml');
    },
  };
  await withBootedTestPlugins([stub], () => void (declaration = read()), { product: ['database', 'auth-saml'] });
  return declaration as ProviderDriverDeclaration;
}

const spMetadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="urn:example:suite"><SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><AssertionConsumerService index="0" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="http://127.0.0.1:8055/auth/login/suite/acs"/></SPSSODescriptor></EntityDescriptor>`;

async function openSamlKit(): Promise<AuthDriverKit> {
  const declaration = await readDeclaration();
  const idp = await startSamlIdentityProvider();
  idp.spMetadataUrl = `data:application/xml,${encodeURIComponent(spMetadata)}`;
  let answer = (response: ServerResponse): void => void response.end(idp.metadata);
  const server = createServer((_request, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    declaration,
    settings: {
      IDP_METADATA_URL: `http://127.0.0.1:${port}/`,
      SP_metadata: spMetadata,
      SP_PRIVATE_KEY: SP_KEY,
      SP_CERTIFICATE,
    },
    secrets: [SP_KEY, SP_KEY.split('\n')[1] as string],
    knowsVerifiedEmail: false,
    async visit(location, user) {
      idp.user = USERS[user];
      return new URLSearchParams((await idp.respond(location)).fields);
    },
    forgeries(honest) {
      const xml = Buffer.from(honest.get('SAMLResponse') ?? '', 'base64').toString();
      return [withoutSignature(xml), xml.replace('>ann<', '>bob<'), xml.replace('>ann<', '>bob<!---->ann<')].map(
        (text) =>
          new URLSearchParams({
            ...Object.fromEntries(honest),
            SAMLResponse: Buffer.from(text).toString('base64'),
          }),
      );
    },
    setFault(fault) {
      answer = fault === 'none' ? (response) => void response.end(idp.metadata) : FAULTS[fault];
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await idp.stop();
    },
  };
}

describeAuthDriver('saml', 'redirect', openSamlKit);
