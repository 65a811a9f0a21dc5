# Drives Ruby's dalli by lines on its standard input; src/peer.rs has the language.

require 'dalli'
require 'json'

$stdout.sync = true
Dalli.logger.level = Logger::FATAL

def unhex(word)
  word == '-' ? ''.b : [word].pack('H*')
end

def tohex(data)
  data.empty? ? '-' : data.unpack1('H*')
end

def key_of(word)
  unhex(word).force_encoding('UTF-8')
end

def value_of(kind, data)
  case kind
  when 'null' then nil
  when 'bool' then data == 'true'
  when 'int' then Integer(data)
  when 'float' then data.unpack1('G')
  when 'text' then data.dup.force_encoding('UTF-8')
  when 'bytes' then data
  when 'json' then JSON.parse(data)
  else raise "unknown kind #{kind}"
  end
end

def answer_of(value)
  kind, data =
    case value
    when nil then ['null', '']
    when true, false then ['bool', value.to_s]
    when Integer then ['int', value.to_s]
    when Float then ['float', [value].pack('G')]
    when String then ['string', value]
    when Array, Hash then ['json', JSON.generate(value)]
    else raise "a #{value.class} was found"
    end
  "#{kind} #{tohex(data)}"
end

# Options are Dalli's own; serializer is json, or Marshal without it; raw=true stores what is a string there.
class Peer
  MISS = Object.new

  def initialize(words)
    options = {}
    servers = []
    words.each do |word|
      name, value = word.split('=', 2)
      case name
      when 'server' then servers << value
      when 'serializer' then options[:serializer] = { 'json' => JSON }.fetch(value)
      when 'raw' then @raw = true
      else options[name.to_sym] = { 'true' => true, 'false' => false }.fetch(value) { value =~ /\A\d+\z/ ? value.to_i : value }
      end
    end
    @client = Dalli::Client.new(servers, options)
  end

  def perform(verb, words)
    case verb
    when 'set'
      key, kind, data, seconds = words
      @client.set(key_of(key), value_of(kind, unhex(data)), seconds.to_i, raw: @raw) ? 'ok' : 'no'
    when 'get'
      # nil may be a miss or a value: only a call for many keys tells which.
      value = @client.get(key_of(words[0]))
      value.nil? && @client.get_multi(key_of(words[0])).empty? ? 'miss' : answer_of(value)
    when 'many'
      found = @client.get_multi(*words.map { |word| key_of(word) })
      ['found', *found.map { |key, value| "#{tohex(key)} #{answer_of(value)}" }].join(' ')
    when 'incr'
      count = @client.incr(key_of(words[0]), words[1].to_i)
      count ? "count #{count}" : 'miss'
    when 'where'
      # As its ring does it, but without a connection.
      ring = @client.send(:ring)
      "server #{ring.send(:server_for_hash_key, ring.send(:hash_for, key_of(words[0]))).name}"
    else
      raise "unknown verb #{verb}"
    end
  end
end

peer = nil
$stdin.each_line do |line|
  verb, *words = line.split
  answer =
    begin
      case verb
      when 'version' then "version dalli #{Dalli::VERSION}, Ruby #{RUBY_VERSION}"
      when 'open'
        peer = Peer.new(words)
        'ok'
      else peer.perform(verb, words)
      end
    rescue StandardError => e
      "error #{e.class}: #{e.message}".split.join(' ')
    end
  puts answer
end
