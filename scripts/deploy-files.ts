/** `npm run docs:deploy`: writes the files of deploy/ from deploy/settings.json and the Dockerfile. */
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import manifest from '../package.json' with { type: 'json' }
import shared from '../deploy/settings.json' with { type: 'json' }
import { projectRoot } from '../harness/source-file.ts'
import { settings } from '../src/config/settings.ts'

const { port, data, health, stopSeconds, memoryMegabytes, volumeGigabytes, proxies } = shared
const made = '# Made by `npm run docs:deploy` from deploy/settings.json: change it there.\n'
const imageName = `${shared.registry}/${shared.name}`
const image = `${imageName}:${manifest.version}`
const repository = `https://github.com/${shared.name}`
const description = `${manifest.description}, such as a Google Sheet`

/** What a person gives, and what nobody has to think of. */
const asked = ['SHEETS_SHEET_ID', 'SHEETS_PRIVATE_KEY'] as const

/** What a form says of it. */
function meaningOf(name: (typeof asked)[number]): string {
  if (name === 'SHEETS_SHEET_ID') return settings[name].meaning
  return 'The JSON key file of the service account in base64: base64 < service-account.json'
}

/** The contents of the files that are made, by path from `deploy/`. */
export function deployFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['fly/fly.toml', fly()],
    ['render/render.yaml', yaml(render())],
    ['railway/railway.json', `${JSON.stringify(railway(), null, 2)}\n`],
    ['railway/Dockerfile', dockerfileWithoutVolume()],
    ['cloud-run/service.yaml', yaml(cloudRun())],
    ['coolify/rollcall.yaml', coolifyHead + yaml(coolify())],
    ['dokploy/docker-compose.yml', yaml(dokploy())],
    ['dokploy/template.toml', dokployTemplate()],
    ['caprover/rollcall.yml', yaml(caprover())],
    ['easypanel/meta.yaml', yaml(easypanelMeta())],
    ['easypanel/index.ts', easypanelTemplate()],
  ])
}

function yaml(content: object): string {
  return made + stringify(content, { lineWidth: 0, singleQuote: true })
}

function fly(): string {
  return `${made}app = "rollcall"
kill_timeout = ${stopSeconds}

[build]
dockerfile = "../../Dockerfile"

[env]
TRUST_PROXY = "${proxies.fly}"

[http_service]
internal_port = ${port}
force_https = true
auto_stop_machines = "off"
min_machines_running = 1

[[http_service.checks]]
path = "${health}"
interval = "15s"
timeout = "5s"
grace_period = "30s"

[[mounts]]
source = "rollcall"
destination = "${data}"
initial_size = "${volumeGigabytes}gb"

[[vm]]
size = "shared-cpu-1x"
memory = "${memoryMegabytes}mb"
`
}

function render(): object {
  return {
    services: [
      {
        ...{ type: 'web', name: 'rollcall', runtime: 'docker', plan: 'starter' },
        healthCheckPath: health,
        maxShutdownDelaySeconds: stopSeconds,
        disk: { name: 'journal', mountPath: data, sizeGB: volumeGigabytes },
        envVars: [
          ...asked.map((key) => ({ key, sync: false })),
          { key: 'ADMIN_TOKEN', generateValue: true },
          { key: 'PORT', value: String(port) },
        ],
      },
    ],
  }
}

function railway(): object {
  return {
    $schema: 'https://railway.com/railway.schema.json',
    build: { builder: 'DOCKERFILE', dockerfilePath: 'deploy/railway/Dockerfile' },
    deploy: {
      ...{ healthcheckPath: health, numReplicas: 1, sleepApplication: false },
      ...{ restartPolicyType: 'ON_FAILURE', restartPolicyMaxRetries: 10 },
      drainingSeconds: stopSeconds,
    },
  }
}

/** Railway refuses `VOLUME`. */
function dockerfileWithoutVolume(): string {
  const dockerfile = readFileSync(join(projectRoot, 'Dockerfile'), 'utf8')
  return made + dockerfile.replace(/^VOLUME .*\n/m, '')
}

function cloudRun(): object {
  const secret = (name: string) => ({ valueFrom: { secretKeyRef: { name, key: 'latest' } } })
  const template = {
    metadata: {
      annotations: {
        'autoscaling.knative.dev/minScale': '1',
        'autoscaling.knative.dev/maxScale': '1',
        'run.googleapis.com/cpu-throttling': 'false',
      },
    },
    spec: {
      serviceAccountName: 'rollcall@PROJECT.iam.gserviceaccount.com',
      containers: [
        {
          image: `REGION-docker.pkg.dev/PROJECT/ghcr/${shared.name}:${manifest.version}`,
          ports: [{ containerPort: port }],
          env: [
            { name: 'SHEETS_SIGN_IN', value: 'application-default' },
            { name: 'SHEETS_SHEET_ID', value: 'SPREADSHEET' },
            { name: 'DATABASE_URL', ...secret('rollcall-database-url') },
            { name: 'TRUST_PROXY', value: String(proxies['cloud-run']) },
          ],
          resources: { limits: { cpu: '1', memory: `${memoryMegabytes}Mi` } },
          startupProbe: { httpGet: { path: health } },
        },
      ],
    },
  }
  const head = { apiVersion: 'serving.knative.dev/v1', kind: 'Service' }
  return { ...head, metadata: { name: 'rollcall' }, spec: { template } }
}

/** As in compose.yaml, but for the ways of the host to give settings. */
function composeService(given: object): object {
  return {
    services: {
      rollcall: {
        ...{ image, restart: 'unless-stopped', ...given, volumes: [`rollcall:${data}`] },
        ...{ read_only: true, tmpfs: '/tmp', cap_drop: ['ALL'] },
        security_opt: ['no-new-privileges:true'],
        stop_grace_period: `${stopSeconds}s`,
      },
    },
    volumes: { rollcall: {} },
  }
}

const coolifyHead = `# documentation: ${repository}
# slogan: ${description}
# category: forms
# tags: signup, waitlist, newsletter, forms, google-sheets
# logo: svgs/rollcall.svg
# port: ${port}

`

function coolify(): object {
  const environment = [
    `SERVICE_URL_ROLLCALL_${port}`,
    ...asked.map((name) => `${name}=\${${name}}`),
    'ADMIN_TOKEN=$SERVICE_PASSWORD_64_ADMIN',
    `TRUST_PROXY=${proxies.coolify}`,
  ]
  return composeService({ environment })
}

/** Dokploy writes what stands under "Environment" to `.env` beside the file. */
function dokploy(): object {
  return composeService({ env_file: ['.env'] })
}

function dokployTemplate(): string {
  return `${made}[variables]
main_domain = "\${domain}"
admin_token = "\${password:32}"

[config]
env = [
${asked.map((name) => `  "${name}=",\n`).join('')}  "ADMIN_TOKEN=\${admin_token}",
  "TRUST_PROXY=${proxies.dokploy}",
]
mounts = []

[[config.domains]]
serviceName = "rollcall"
port = ${port}
host = "\${main_domain}"
`
}

function caprover(): object {
  const idOf = (name: string) => `$$cap_${name.toLowerCase()}`
  const variable = (id: string, label: string, more: object) => ({ id, label, ...more })
  return {
    captainVersion: 4,
    services: {
      $$cap_appname: {
        image: `${imageName}:$$cap_app_version`,
        restart: 'always',
        environment: {
          ...Object.fromEntries([...asked, 'ADMIN_TOKEN'].map((name) => [name, idOf(name)])),
          TRUST_PROXY: String(proxies.caprover),
        },
        volumes: [`$$cap_appname-data:${data}`],
        caproverExtra: { containerHttpPort: String(port) },
      },
    },
    caproverOneClickApp: {
      variables: [
        variable('$$cap_app_version', 'Version', { defaultValue: manifest.version }),
        ...asked.map((name) =>
          variable(idOf(name), name, { description: meaningOf(name), defaultValue: '' }),
        ),
        variable(idOf('ADMIN_TOKEN'), 'ADMIN_TOKEN', { defaultValue: '$$cap_gen_random_hex(32)' }),
      ],
      instructions: {
        start: description,
        end: 'The signup page is at http://$$cap_appname.$$cap_root_domain, the admin page at /admin.',
      },
      ...{ displayName: 'Rollcall', isOfficial: false, description },
      documentation: repository,
    },
  }
}

function easypanelMeta(): object {
  const text = (title: string, more: object = {}) => ({ type: 'string', title, ...more })
  return {
    ...{ name: 'Rollcall', description, instructions: null },
    changeLog: [{ date: '2026-11-29', description: 'First Release' }],
    links: [{ label: 'Github', url: repository }],
    contributors: [{ name: 'OWNER', url: 'https://github.com/OWNER' }],
    schema: {
      type: 'object',
      required: ['appServiceName', 'appServiceImage'],
      properties: {
        appServiceName: text('App Service Name', { default: 'rollcall' }),
        appServiceImage: text('App Service Image', { default: image }),
        ...Object.fromEntries(asked.map((name) => [camelCase(name), text(meaningOf(name))])),
      },
    },
    ...{ benefits: null, features: null, tags: ['Forms'] },
  }
}

function easypanelTemplate(): string {
  const given = asked.map((name) => `        \`${name}=\${input.${camelCase(name)} ?? ""}\`,\n`)
  return `${made.replace('#', '//')}import { Output, randomPassword, Services } from "~templates-utils";
import { Input } from "./meta";

export function generate(input: Input): Output {
  const services: Services = [];

  services.push({
    type: "app",
    data: {
      serviceName: input.appServiceName,
      source: { type: "image", image: input.appServiceImage },
      domains: [{ host: "$(EASYPANEL_DOMAIN)", port: ${port} }],
      mounts: [{ type: "volume", name: "data", mountPath: "${data}" }],
      env: [
${given.join('')}        \`ADMIN_TOKEN=\${randomPassword()}\`,
        \`TRUST_PROXY=${proxies.easypanel}\`,
      ].join("\\n"),
    },
  });

  return { services };
}
`
}

function camelCase(name: string): string {
  return name.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

if (import.meta.main) {
  for (const [name, content] of deployFiles()) {
    const path = join(projectRoot, 'deploy', name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
  }
}
