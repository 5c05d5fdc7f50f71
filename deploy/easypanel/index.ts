// Made by `npm run docs:deploy` from deploy/settings.json: change it there.
import { Output, randomPassword, Services } from "~templates-utils";
import { Input } from "./meta";

export function generate(input: Input): Output {
  const services: Services = [];

  services.push({
    type: "app",
    data: {
      serviceName: input.appServiceName,
      source: { type: "image", image: input.appServiceImage },
      domains: [{ host: "$(EASYPANEL_DOMAIN)", port: 3000 }],
      mounts: [{ type: "volume", name: "data", mountPath: "/data" }],
      env: [
        `SHEETS_SHEET_ID=${input.sheetsSheetId ?? ""}`,
        `SHEETS_PRIVATE_KEY=${input.sheetsPrivateKey ?? ""}`,
        `ADMIN_TOKEN=${randomPassword()}`,
        `TRUST_PROXY=1`,
      ].join("\n"),
    },
  });

  return { services };
}
