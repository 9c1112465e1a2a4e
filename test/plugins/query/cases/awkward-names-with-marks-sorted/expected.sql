select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."awkward" t1 order by t1."price (EUR)" desc, t1."a:b", t1."_under", t1."id" limit 100) r
-- []
