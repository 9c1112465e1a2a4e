select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", (to_jsonb(t1."list") #> $1::text[]) as "list_0_json" from "public"."thing" t1 order by t1."id" limit 100) r
-- [["0"]]
