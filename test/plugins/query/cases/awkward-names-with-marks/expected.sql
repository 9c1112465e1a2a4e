select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."price (EUR)" as "price (EUR)", t1."hour(at)" as "hour(at)", t1."a:b" as "a:b", t1."_under" as "_under" from "public"."awkward" t1 order by t1."id" limit 100) r
-- []
